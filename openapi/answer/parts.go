package answer

// Parts are the parts of one answer with the memory that they are in. The zero value has none. Only one goroutine uses it.
type Parts struct {
	// List are the parts in order, valid until [Parts.Release]. Their reader may change them.
	List []Part

	buffers *buffers
	held    []*buffer
	// Most answers have one part, in one buffer or two, so that they cost no allocation.
	one  [1]Part
	some [2]*buffer
}

// begin releases what is held, for an answer in buffers of these.
func (ps *Parts) begin(from *buffers) {
	ps.Release()
	ps.buffers, ps.held = from, ps.some[:0]
}

// keep holds a buffer until [Parts.Release], and returns it.
func (ps *Parts) keep(b *buffer) *buffer {
	ps.held = append(ps.held, b)
	return b
}

// add appends a part.
func (ps *Parts) add(p Part) {
	if ps.List == nil {
		ps.List = ps.one[:0]
	}
	ps.List = append(ps.List, p)
}

// Release makes the memory of the parts available to other answers. The parts must not be used any more. It may be called again.
func (ps *Parts) Release() {
	for _, b := range ps.held {
		ps.buffers.put(b)
	}
	ps.List, ps.held, ps.one = nil, nil, [1]Part{}
}
