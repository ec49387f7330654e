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

// reasonUnapproved is why a tool is held back.
const reasonUnapproved = "not-approved"

// lockOf reads the file of approved tools; nil: there is none.
func (g *Gateway) lockOf(c *config.Config) (*config.Lock, error) {
	if c.Tools.Lock == "" || g.o.Unlocked {
		return nil, nil //nolint:nilnil // everything is approved
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

// locked is a tool as the lock knows it. Its digests are of what a model or a client reads of it and of its answers, of what a call
// sends, and of what rules and tokens are held against. What the configuration decides is in none of them: an operator has no need to approve it.
func (s *source) locked(t *catalog.Tool) config.LockedTool {
	return config.LockedTool{
		Name: t.Name, API: t.API, Method: t.Operation.Method, Path: t.Operation.Path, Title: t.Title, Description: t.Description,
		Former: t.Former, FormerAPI: t.FormerAPI,
		// Without what tells it from others: that depends on the others, and on what is in the other digests.
		Words: fingerprint(t.Title, t.Said), Schema: schemaPrint(t),
		Request: s.requestPrint(t.Operation), Access: s.accessPrint(t.Operation), Answers: fingerprint(string(t.Operation.AppendAnswerFingerprint(nil))),
	}
}

// schemaPrint is a digest of the published schemas, and of those that arguments and answers are held against where they are others:
// callers read parts of these in what they are told of their arguments, and users in what they are asked.
func schemaPrint(t *catalog.Tool) string {
	input, output := t.Published(openapi.ProfileFull)
	texts := []string{string(input), string(output), fmt.Sprintf("%+v", t.Annotations)}
	if op := t.Operation; string(op.Input) != string(input) || output != nil && string(op.Output) != string(output) {
		texts = append(texts, string(op.Input), string(op.Output))
	}
	return fingerprint(texts...)
}

// requestPrint is a digest of what the document says of requests.
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

// accessPrint is a digest of what the document says that selectors of rules, scopes, the choice of a credential, and settings
// come from.
func (s *source) accessPrint(op *openapi.Operation) string {
	// Quoted, so that no tag reads as a requirement, and no scope as a scheme.
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
	for _, extension := range op.Extensions { // those of documents that are trusted with them
		if extension.Value != nil {
			text = fmt.Appendf(text, "extension %q %q\n", extension.Name, extension.Value)
		}
	}
	return fingerprint(string(text))
}

// fingerprint tells lists of texts apart.
func fingerprint(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// unapproved tells why a tool is held back; "" if it is approved.
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

// holdBack takes the tools out of the catalog that are not approved. No plan is made of them, so that nothing leads there: no
// call, resource, prompt, completion or task.
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

// formerlyApproved tells under which names of the release before a tool is approved; "" if it is approved under those that it has.
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

// heldReason is what operators are told.
func heldReason(why string) admin.Reason {
	return admin.Reason{Code: reasonUnapproved, Message: why + "; drawbridge lock --config FILE approves it"}
}

// logHeldBack warns of tools that are held back, and of those that are approved under their former names, once for each change of
// them.
func (g *Gateway) logHeldBack(gen, old *generation) {
	if len(gen.renamed) > 0 && (old == nil || !slices.Equal(gen.renamed, old.renamed)) {
		g.log.Warn("tools have other names than were approved, which the next release will not know: write the file anew with \"drawbridge lock --config FILE\"",
			"count", len(gen.renamed), "tools", first(gen.renamed))
	}
	what := func(gen *generation) (reasons []string) {
		for _, t := range gen.heldBack { // by name
			reasons = append(reasons, gen.unapproved[t.Operation])
		}
		return reasons
	}
	now := what(gen)
	if len(now) == 0 || old != nil && slices.Equal(now, what(old)) {
		return
	}
	g.log.Warn("tools are held back until they are approved: see what \"drawbridge lock --config FILE --check\" says, and approve them with \"drawbridge lock --config FILE\"",
		"count", len(now), "tools", first(now))
}

// Lock returns the tools of the generation in use as they would be approved. It is for [Gateway.Load] with [Options].Unlocked.
func (g *Gateway) Lock() *config.Lock {
	var tools []config.LockedTool
	if gen := g.current.Load(); gen != nil {
		for _, t := range gen.catalog.All() {
			tools = append(tools, gen.whole.plans[t.Name].source.locked(t))
		}
	}
	return config.NewLock(tools)
}
