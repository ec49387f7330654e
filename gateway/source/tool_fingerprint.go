package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
)

// LockedTool returns the entry of a tool in tools.lock. Its digests cover the texts that a model or a client reads of the
// tool and its responses, the requests of its calls, and the data that rules and tokens are checked against. They don't
// cover the configuration, which the operator controls anyway.
func (s *Source) LockedTool(t *catalog.Tool) config.LockedTool {
	return config.LockedTool{
		Name: t.Name, API: t.API, Method: t.Operation.Method, Path: t.Operation.Path, Title: t.Title, Description: t.Description,
		Former: t.Former, FormerAPI: t.FormerAPI,
		// Without the suffix that distinguishes the tool from others: it depends on the others, and on data in the
		// other digests.
		Words: fingerprint(t.Title, t.Said), Schema: schemaPrint(t),
		Request: requestPrint(t.Operation, s.Document, s.Config.BaseURL), Access: accessPrint(t.Operation, s.Document.API.Schemes), Answers: fingerprint(string(t.Operation.AppendAnswerFingerprint(nil))),
	}
}

// schemaPrint is a digest of the published schemas, and of those that validate arguments and responses if they differ:
// parts of these appear in validation errors for callers and in elicitation for users.
func schemaPrint(t *catalog.Tool) string {
	input, output := t.Approved()
	// The annotations of rules are configuration, and those of documents are among the extensions.
	texts := []string{string(input), string(output), fmt.Sprintf("%+v", catalog.AnnotationsOf(t.Operation.Method))}
	if op := t.Operation; string(op.Input) != string(input) || output != nil && string(op.Output) != string(output) {
		texts = append(texts, string(op.Input), string(op.Output))
	}
	return fingerprint(texts...)
}

// requestPrint is a digest of the parts of the document that decide the requests. It includes the servers unless calls
// go to the base URL of the configuration, which may be nil.
func requestPrint(op *openapi.Operation, d *Document, base *config.URL) string {
	sent, complete := op.AppendRequestFingerprint(nil)
	texts := []string{string(sent)}
	if !complete {
		digest := d.Stamp.Digest
		texts = append(texts, string(digest[:]))
	}
	if op.Base != nil && (base == nil || op.Base.String() != base.URL().String()) {
		texts = append(texts, op.Base.String())
	}
	for _, base := range op.Bases[min(1, len(op.Bases)):] {
		texts = append(texts, base.String())
	}
	return fingerprint(texts...)
}

// accessPrint is a digest of the parts of the document that decide access: the properties that selectors of rules
// match, scopes, the choice of a credential, and settings.
func accessPrint(op *openapi.Operation, schemes []openapi.Scheme) string {
	// Quoted, so that a tag can't be read as a security requirement, or a scope as a scheme.
	text := fmt.Appendf(nil, "operation %q tags %q\n", op.ID, op.Tags)
	for _, alternative := range op.Security {
		text = append(text, "or\n"...)
		for _, use := range alternative {
			text = fmt.Appendf(text, "with %q %q\n", use.Scheme, use.Scopes)
			for _, scheme := range schemes {
				if scheme.Name == use.Scheme {
					text = fmt.Appendf(text, "which is %q %q %q %q\n", scheme.Type, scheme.HTTP, scheme.In, scheme.Key)
				}
			}
		}
	}
	for _, extension := range op.Extensions { // values are present only in trusted documents
		if extension.Value != nil {
			text = fmt.Appendf(text, "extension %q %q\n", extension.Name, extension.Value)
		}
	}
	return fingerprint(string(text))
}

// fingerprint is a digest of a list of texts; different lists have different ones.
func fingerprint(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
