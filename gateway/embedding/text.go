package embedding

import (
	"crypto/sha256"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/openapi/text"
)

const (
	// maxText limits the text that is sent, in bytes: sentence models read 256 or 512 tokens, and some servers reject
	// longer texts.
	maxText = 1000
	// maxDescription limits the description, in bytes.
	maxDescription = 600
)

// digest identifies a text, and thereby its vector.
type digest [sha256.Size]byte

// textOf returns the text that represents a tool: its purpose, then its path.
func textOf(t *catalog.Tool) string {
	said := &t.Document
	var b strings.Builder
	b.WriteString(t.API)
	b.WriteString(": ")
	if said.Summary != "" {
		b.WriteString(said.Summary)
	} else {
		b.WriteString(t.Name)
	}
	b.WriteString("\n" + t.Method + " " + t.Path + "\n")
	if len(t.Tags) > 0 {
		b.WriteString(strings.Join(t.Tags, ", ") + "\n")
	}
	if said.Description != said.Summary {
		b.WriteString(text.Prefix(said.Description, maxDescription))
	}
	return cut(b.String())
}

// cut limits a text to the length that is sent.
func cut(raw string) string {
	return strings.TrimSpace(text.Prefix(strings.ToValidUTF8(raw, " "), maxText))
}

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }
