package openapi

// What the operations of one document may cost together (S3). A few kilobytes can hold a list of parameters, or a
// schema, that thousands of operations refer to, and each of them becomes a tool of its own.
const (
	maxParameters     = 1_000    // of one operation
	maxAllParameters  = 300_000  // of all operations
	maxOperationBytes = 64 << 20 // Operation.size of all operations
	maxPath           = 8 << 10  // bytes of one path: servers refuse longer ones, and a variable may stand in it many times
	argumentBytes     = 150      // what an argument takes beside its schema, about
	meaningBytes      = 24       // what a status takes beside its text, which is shared
	wastedBytes       = 1 << 20  // charged for a schema that was found too large after all ways of reducing it were tried
)

// budget is what the operations up to now have used. It is asked in the document's order.
type budget struct {
	listed int   // parameters
	bytes  int64 // see Operation.size
}

// parameters charges the parameters of an operation, as they are listed. The error says why it is skipped.
func (b *budget) parameters(f found) error {
	n := f.item.Get("parameters").Len() + f.node.Get("parameters").Len()
	if n > maxParameters {
		return coded(codeSkipLimit, skip(nil, "it has %d parameters; at most %d are allowed", n, maxParameters))
	}
	if b.listed += n; b.listed > maxAllParameters {
		return coded(codeSkipLimit, skip(nil, "the operations up to this one have more than %d parameters together; split the document", maxAllParameters))
	}
	return nil
}

// memory charges what an operation keeps or has wasted. The error says why it is skipped, and with it all that follow.
func (b *budget) memory(bytes int64) error {
	if b.bytes += bytes; !b.left() {
		return coded(codeSkipLimit, skip(nil, "the schemas of the operations up to this one take more than %d MiB together; split the document", maxOperationBytes>>20))
	}
	return nil
}

// left tells whether there is room for another operation.
func (b *budget) left() bool { return b.bytes <= maxOperationBytes }

// size is about how many bytes an operation keeps. A schema that several have in common counts for each, since each
// shows it to its clients.
func (o *Operation) size() int64 {
	n := len(o.Input) + len(o.Output) + o.portable.size() + argumentBytes*len(o.arguments) + meaningBytes*len(o.meanings)
	if o.body != nil {
		n += o.body.codec.bytes
	}
	return int64(n)
}
