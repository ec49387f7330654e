package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
)

// reasonUnapproved is the reason code of a tool that is held back for lack of approval.
const reasonUnapproved = "not-approved"

// lockOf reads tools.lock; nil if approval is off.
func (g *Gateway) lockOf(c *config.Config) (*config.Lock, error) {
	if c.Tools.Lock == "" || g.o.Unlocked {
		return nil, nil //nolint:nilnil // every tool is approved
	}
	l, err := config.ReadLock(c.Tools.Lock.String())
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; drawbridge lock --config FILE writes it", err)
	}
	if err == nil && l.Unknown() != "" {
		err = fmt.Errorf("%s: is of version %d, which does not approve %s as this version of drawbridge does; see what has changed with "+
			"\"drawbridge lock --config FILE --check\", then approve it with \"drawbridge lock --config FILE\"", c.Tools.Lock, l.Version, l.Unknown())
	}
	if err != nil {
		return nil, c.Wrong("tools.lock", err)
	}
	return l, nil
}

// locked returns the entry of a tool in tools.lock. Its digests cover the texts that a model or a client reads of the
// tool and its responses, the requests of its calls, and the data that rules and tokens are checked against. They don't
// cover the configuration, which the operator controls anyway.
func (s *source) locked(t *catalog.Tool) config.LockedTool {
	return config.LockedTool{
		Name: t.Name, API: t.API, Method: t.Operation.Method, Path: t.Operation.Path, Title: t.Title, Description: t.Description,
		Former: t.Former, FormerAPI: t.FormerAPI,
		// Without the suffix that distinguishes the tool from others: it depends on the others, and on data in the
		// other digests.
		Words: fingerprint(t.Title, t.Said), Schema: schemaPrint(t),
		Request: s.requestPrint(t.Operation), Access: s.accessPrint(t.Operation), Answers: fingerprint(string(t.Operation.AppendAnswerFingerprint(nil))),
	}
}

// schemaPrint is a digest of the published schemas, and of those that validate arguments and responses if they differ:
// parts of these appear in validation errors for callers and in elicitation for users.
func schemaPrint(t *catalog.Tool) string {
	input, output := t.Published(openapi.ProfileFull)
	texts := []string{string(input), string(output), fmt.Sprintf("%+v", t.Annotations)}
	if op := t.Operation; string(op.Input) != string(input) || output != nil && string(op.Output) != string(output) {
		texts = append(texts, string(op.Input), string(op.Output))
	}
	return fingerprint(texts...)
}

// requestPrint is a digest of the parts of the document that decide the requests.
func (s *source) requestPrint(op *openapi.Operation) string {
	sent, whole := op.AppendRequestFingerprint(nil)
	texts := []string{string(sent)}
	if !whole {
		digest := s.loaded.stamp.Digest
		texts = append(texts, string(digest[:]))
	}
	if s.config.BaseURL == nil && op.Base != nil {
		texts = append(texts, op.Base.String())
	}
	return fingerprint(texts...)
}

// accessPrint is a digest of the parts of the document that decide access: what selectors of rules match, scopes, the
// choice of a credential, and settings.
func (s *source) accessPrint(op *openapi.Operation) string {
	// Quoted, so that a tag can't be read as a security requirement, or a scope as a scheme.
	text := fmt.Appendf(nil, "operation %q tags %q\n", op.ID, op.Tags)
	for _, alternative := range op.Security {
		text = append(text, "or\n"...)
		for _, use := range alternative {
			text = fmt.Appendf(text, "with %q %q\n", use.Scheme, use.Scopes)
			for _, scheme := range s.loaded.api.Schemes {
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

// unapproved returns the reason why a tool is held back; "" if it is approved.
func (s *source) unapproved(l *config.Lock, t *catalog.Tool) string {
	now := s.locked(t)
	approved, ok := l.Approval(now)
	if !ok {
		return "the tool " + t.Name + " is new"
	}
	if differs := now.Differs(approved); len(differs) > 0 {
		return "the tool " + t.Name + " has another " + strings.Join(differs, ", ") + " than was approved"
	}
	return ""
}

// holdBack removes tools without approval from the catalog. They get no plan, so that no call, resource, prompt,
// completion or task can reach them.
func (gen *generation) holdBack(l *config.Lock, sources map[string]*source) {
	if l == nil {
		return
	}
	gen.unapproved = map[*openapi.Operation]string{}
	gen.catalog = gen.catalog.Only(func(t *catalog.Tool) bool {
		why := sources[t.API].unapproved(l, t)
		if why == "" {
			if was := formerlyApproved(l, t); was != "" {
				gen.renamed = append(gen.renamed, was)
			}
			return true
		}
		gen.unapproved[t.Operation] = why
		gen.heldBack = append(gen.heldBack, t)
		return false
	})
}

// formerlyApproved describes the names of the previous release under which a tool is approved; "" if it is approved
// under its current names.
func formerlyApproved(l *config.Lock, t *catalog.Tool) string {
	approved, ok := l.Of(t.Name)
	switch {
	case !ok:
		return t.Former + " is now " + t.Name
	case approved.API != t.API:
		return t.Name + " of " + approved.API + " is now of " + t.API
	}
	return ""
}

// heldReason returns the reason for operators why a tool is held back.
func heldReason(why string) admin.Reason {
	return admin.Reason{Code: reasonUnapproved, Message: why + "; drawbridge lock --config FILE approves it"}
}

// logHeldBack warns once of each change of the tools that are held back, and of those that are approved under their
// former names.
func (g *Gateway) logHeldBack(gen, old *generation) {
	if len(gen.renamed) > 0 && (old == nil || !slices.Equal(gen.renamed, old.renamed)) {
		g.log.Warn("tools have other names than were approved, which the next release will not know: write the file anew with \"drawbridge lock --config FILE\"",
			"count", len(gen.renamed), "tools", first(gen.renamed))
	}
	reasonsOf := func(gen *generation) (reasons []string) {
		for _, t := range gen.heldBack { // sorted by name
			reasons = append(reasons, gen.unapproved[t.Operation])
		}
		return reasons
	}
	now := reasonsOf(gen)
	if len(now) == 0 || old != nil && slices.Equal(now, reasonsOf(old)) {
		return
	}
	g.log.Warn("tools are held back until they are approved: see what \"drawbridge lock --config FILE --check\" says, and approve them with \"drawbridge lock --config FILE\"",
		"count", len(now), "tools", first(now))
}

// Lock returns the lock entries that would approve the tools of the generation in use. It is for [Gateway.Load] with
// [Options].Unlocked.
func (g *Gateway) Lock() *config.Lock {
	var tools []config.LockedTool
	if gen := g.current.Load(); gen != nil {
		for _, t := range gen.catalog.All() {
			tools = append(tools, gen.main.plans[t.Name].source.locked(t))
		}
	}
	return config.NewLock(tools)
}
