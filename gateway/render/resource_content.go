package render

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Content is one item of the contents of a resource.
type Content struct {
	URI, MIMEType string
	Text, Blob    []byte // at most one is set
}

// appendTo appends the content as a JSON object, as in a list of contents and in an embedded resource.
func (c *Content) appendTo(chunks []mcp.Chunk) []mcp.Chunk {
	head := jsonscan.AppendString([]byte(`{"uri":`), c.URI)
	head = jsonscan.AppendString(append(head, `,"mimeType":`...), c.MIMEType)
	if c.Blob != nil {
		head = base64.StdEncoding.AppendEncode(append(head, `,"blob":"`...), c.Blob)
		return append(chunks, mcp.Chunk{Bytes: append(head, blockClose...)})
	}
	return append(chunks, mcp.Chunk{Bytes: append(head, `,"text":"`...)}, mcp.Chunk{Bytes: c.Text, Escape: true}, mcp.Chunk{Bytes: blockClose})
}

// Block returns the content as a content block: an embedded resource.
func (c *Content) Block() []mcp.Chunk {
	return append(c.appendTo([]mcp.Chunk{{Bytes: resourceOpen}}), mcp.Chunk{Bytes: closeBrace})
}

// Contents returns the members of a result of resources/read.
func Contents(contents []Content) []mcp.Chunk {
	chunks := []mcp.Chunk{{Bytes: contentsOpen}}
	for i := range contents {
		if i > 0 {
			chunks = append(chunks, mcp.Chunk{Bytes: comma})
		}
		chunks = contents[i].appendTo(chunks)
	}
	return append(chunks, mcp.Chunk{Bytes: listClose})
}

// ContentsOf converts the parts of a response to contents, each with its own URI if there are several, and the notes on
// missing data. A response without parts becomes a sentence: a resource is never an empty list (2026-07-28
// server/resources, Error Handling), and clients pass its text on to models, which refuse an empty one. The media type
// is that of the bytes: a resource that is declared as an image or audio is neither if its bytes are of an unknown
// type. unended is the result of [IsUnended].
func ContentsOf(uri, mimeType string, parts []answer.Part, unended bool) (contents []Content) {
	contents = make([]Content, 0, len(parts)+1)
	if len(parts) == 0 {
		contents = append(contents, blankContent(uri))
	}
	for i, part := range parts {
		c := Content{URI: uri, MIMEType: part.MediaType}
		if len(parts) > 1 {
			c.URI += "#" + strconv.Itoa(i+1)
		}
		if c.MIMEType == "" && len(parts) == 1 && (part.Kind == answer.Text || !strings.HasPrefix(mimeType, "image/") && !strings.HasPrefix(mimeType, "audio/")) {
			c.MIMEType = mimeType
		}
		switch part.Kind {
		case answer.JSON, answer.Text:
			if answer.IsBlank(part.Data) {
				c = blankContent(c.URI)
				break
			}
			if c.Text = part.Data; c.MIMEType == "" {
				c.MIMEType = "text/plain"
			}
		case answer.Image, answer.Audio, answer.Binary:
			c.Blob, c.MIMEType = part.Data, orUnknown(c.MIMEType)
		}
		if contents = append(contents, c); part.Events > 0 {
			contents = append(contents, noteAt(uri, CutOff(part.Events)))
		}
	}
	if unended {
		contents = append(contents, noteAt(uri, Unended))
	}
	return contents
}

// blankContent returns the contents at a URI without visible text.
func blankContent(uri string) Content {
	return Content{URI: uri, MIMEType: "text/plain", Text: []byte(blankFile)}
}

// Caption returns the text beside the content as a content block; "" if it is text.
func (c *Content) Caption() string {
	if c.Blob == nil {
		return ""
	}
	return fmt.Sprintf("The resource %s (%s) is in the next block, in base64.", text.Truncate(strings.ToValidUTF8(c.URI, "\uFFFD"), 200), facts(c.MIMEType, len(c.Blob)))
}

// noteAt returns supplementary text for the contents at a URI, such as that they were cut off.
func noteAt(uri, text string) Content {
	return Content{URI: uri + "#cut", MIMEType: "text/plain", Text: []byte(text)}
}
