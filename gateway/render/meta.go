package render

import "drawbridge/openapi/jsonscan"

// AppendMember adds a member to the members of _meta. Both may be nil.
func AppendMember(meta, member []byte) []byte {
	if member == nil {
		return meta
	}
	if len(meta) > 0 {
		meta = append(meta, ',')
	}
	return append(meta, member...)
}

// AppendDropped adds the member that lists the arguments that were dropped, as JSON Pointers, to the members of _meta.
func AppendDropped(meta []byte, pointers []string) []byte {
	if len(pointers) == 0 {
		return meta
	}
	if len(meta) > 0 {
		meta = append(meta, ',')
	}
	meta = append(meta, `"drawbridge/droppedArguments":[`...)
	for i, pointer := range pointers {
		if i > 0 {
			meta = append(meta, ',')
		}
		meta = jsonscan.AppendString(meta, pointer)
	}
	return append(meta, ']')
}
