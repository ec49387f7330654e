package openapi

import (
	"cmp"
	"slices"

	"drawbridge/openapi/tree"
)

// Limits of all operations of one document together (S3). A few kilobytes can contain a list of parameters, a text or a
// schema that thousands of operations refer to, and each of them becomes a tool of its own. Of 48 real documents none
// has more than 9,202 entries, 1.3 MiB of texts and 109 KiB of shared schemas.
const (
	maxParameters     = 1_000    // of one operation
	maxAllParameters  = 300_000  // of all operations
	maxEntries        = 1_000    // responses, media types of a body, tags, alternatives of security: of one operation
	maxAllEntries     = 500_000  // of these, of all operations
	maxTexts          = 32 << 20 // bytes of the descriptions of all operations with their parameters and responses
	maxWeight         = 8 << 20  // of the schemas in operations and parameters, except in the first operation that has them
	maxOperationBytes = 64 << 20 // Operation.size of all operations, for a document of any size; see newBudget
	minOperationBytes = 16 << 20 // the same for the smallest
	expansion         = 16       // bytes of operations for each byte of the document beyond
	maxPath           = 8 << 10  // bytes of one path: servers refuse longer ones, and a variable may occur in it many times
	argumentBytes     = 150      // approximate memory of an argument in addition to its schema
	toolBytes         = 3 << 10  // memory of an operation, with its tool, in addition to Operation.size: 2.8 KiB for the smallest one
	skippedBytes      = 400      // memory of a skipped operation in addition to its texts
	skippedText       = 2 << 10  // of each text of a skipped operation, and of its tags together: thousands may have the same
	textBytes         = 16       // memory of a text in addition to its bytes
	wastedBytes       = 1 << 20  // charged for a schema that was too large after every reduction
)

// budget counts the use of the limits by the operations so far. It is charged in the document's order.
type budget struct {
	parameters int
	listed     int
	texts      int
	weight     int
	weights    map[*tree.Node]int
	used       map[*tree.Node]int // see uses
	bytes      int64              // see Operation.size
	most       int64              // of bytes
}

// newBudget returns the budget of a document of a size in bytes. The limit of its operations grows with the size: real
// documents have at most seven times their bytes in schemas and texts of tools.
func newBudget(bytes int64) *budget {
	return &budget{most: min(minOperationBytes+expansion*bytes, maxOperationBytes)}
}

// lists charges the lists of an operation: parameters, responses, media types, tags, alternatives of security, and the
// texts that describe them. The error is the reason to skip it.
func (b *budget) lists(c *compiler, f found) error {
	if err := b.chargeParameters(f); err != nil {
		return err
	}
	security := f.node.Get("security")
	if security.Kind() != tree.Array {
		security = c.security.root
	}
	for _, list := range []struct {
		what string
		n    int
	}{
		{"answers", f.node.Get("responses").Len()},
		{"media types", c.follow(f.node.Get("requestBody")).Get("content").Len()},
		{"tags", f.node.Get("tags").Len()},
		{"alternatives of security", security.Len()},
		{"schemes and scopes in alternatives of security", b.uses(security)},
	} {
		if list.n > maxEntries {
			return coded(codeSkipLimit, skip(nil, "it has %d %s; at most %d are allowed", list.n, list.what, maxEntries))
		}
		b.listed += list.n
	}
	if b.listed <= maxAllEntries && b.texts <= maxTexts && b.weight <= maxWeight { // beyond the limit, counting itself would be the cost
		b.chargeParts(c, f)
	}
	switch {
	case b.listed > maxAllEntries:
		return coded(codeSkipLimit, skip(nil, "the operations up to this one list more than %d answers, media types, tags and alternatives of security together; split the document", maxAllEntries))
	case b.weight > maxWeight:
		return coded(codeSkipLimit, skip(nil, "the schemas that stand in the operations up to this one, and in their parameters, and that others have too, take more than %d MiB together; split the document", maxWeight>>20))
	case b.texts > maxTexts:
		return coded(codeSkipLimit, skip(nil, "the descriptions of the operations up to this one, with those of their parameters and answers, take more than %d MiB together; split the document", maxTexts>>20))
	}
	return nil
}

// uses counts the schemes and scopes that are named in alternatives of security.
func (b *budget) uses(security *tree.Node) (n int) {
	if n, known := b.used[security]; known || security.Len() > maxEntries {
		return n
	}
	for _, alternative := range security.Items() {
		for _, scopes := range alternative.Members() {
			n += 1 + scopes.Len()
		}
	}
	if b.used == nil {
		b.used = make(map[*tree.Node]int)
	}
	b.used[security] = n
	return n
}

// chargeParts charges the parts of responses and bodies, and the texts.
func (b *budget) chargeParts(c *compiler, f found) {
	text := func(n *tree.Node) { b.texts += len(n.Get("description").Text()) + len(n.Get("summary").Text()) }
	text(f.node)
	for _, list := range []*tree.Node{f.item.Get("parameters"), f.node.Get("parameters")} {
		for _, p := range list.Items() {
			p = c.follow(p)
			text(p)
			b.weigh(cmp.Or(p.Get("schema"), p)) // 2.0 has the schema in the parameter itself
		}
	}
	body := c.follow(f.node.Get("requestBody"))
	text(body)
	for _, mediaType := range body.Get("content").Members() {
		mediaType = c.follow(mediaType)
		b.listed += mediaType.Get("encoding").Len()
		b.weigh(mediaType.Get("schema"))
	}
	old := 0 // 2.0: every response has all types of the document
	if c.doc.dialect == swagger2 {
		old = max(len(c.mediaTypes(f, "produces")), len(c.mediaTypes(f, "consumes")))
	}
	for _, answer := range f.node.Get("responses").Members() {
		answer = c.follow(answer)
		text(answer)
		b.listed += old + answer.Get("content").Len()
	}
}

// weigh charges a schema each time it is written except the first, which the document is charged for. It does not
// follow references, since their targets are kept once.
func (b *budget) weigh(n *tree.Node) {
	if n == nil {
		return
	}
	w, known := b.weights[n]
	if known {
		b.weight += w
		return
	}
	if b.weights == nil {
		b.weights = make(map[*tree.Node]int)
	}
	b.weights[n] = weight(n)
}

// weight returns the approximate size of a value in bytes, including its parts.
func weight(n *tree.Node) int {
	w := 8 + len(n.Key()) + len(n.Text())
	for _, k := range n.Items() {
		w += weight(k)
	}
	for _, k := range n.Members() {
		w += weight(k)
	}
	return w
}

// chargeParameters charges the parameters of an operation, as listed. The error is the reason to skip it.
func (b *budget) chargeParameters(f found) error {
	n := f.item.Get("parameters").Len() + f.node.Get("parameters").Len()
	if n > maxParameters {
		return coded(codeSkipLimit, skip(nil, "it has %d parameters; at most %d are allowed", n, maxParameters))
	}
	if b.parameters += n; b.parameters > maxAllParameters {
		return coded(codeSkipLimit, skip(nil, "the operations up to this one have more than %d parameters together; split the document", maxAllParameters))
	}
	return nil
}

// memory charges the memory that an operation keeps or has wasted. The error is the reason to skip it and all later
// ones.
func (b *budget) memory(bytes int64) error {
	if b.bytes += bytes; !b.left() {
		return coded(codeSkipLimit, skip(nil, "the operations up to this one, with their schemas and texts, take more than %d MiB together, the limit for a document of its size; split the document", b.most>>20))
	}
	return nil
}

// left reports whether there is room for another operation.
func (b *budget) left() bool { return b.bytes <= b.most }

// size returns the approximate memory of an operation in bytes. A schema that several share counts for each, since each
// publishes it to its clients.
func (o *Operation) size() int64 {
	n := len(o.Summary) + len(o.Description) + len(o.Returns) + len(o.Input) + len(o.Output) + o.shown.size() + argumentBytes*len(o.arguments) + o.Answers.Size()
	for i := range o.Links {
		n += o.Links[i].size()
	}
	for i := range o.Callbacks {
		n += linkBytes + len(o.Callbacks[i].Name) + o.Callbacks[i].URL.size()
	}
	n += len(o.ID) + len(o.Path) + len(o.Pointer)
	for _, tag := range slices.Concat(o.Tags, o.Marks) {
		n += textBytes + len(tag)
	}
	for _, requirement := range o.Security {
		for _, use := range requirement {
			n += textBytes + len(use.Scheme)
			for _, scope := range use.Scopes {
				n += textBytes + len(scope)
			}
		}
	}
	for i := range o.Extensions {
		n += textBytes + len(o.Extensions[i].Name) + len(o.Extensions[i].Value) + len(o.Extensions[i].Pointer)
	}
	if o.body != nil {
		n += o.body.codec.bytes
	}
	return int64(n)
}
