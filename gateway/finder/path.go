package finder

import "strings"

// segments returns the path segments that are not variables.
func (t *Tool) segments() (fixed []string) {
	for segment := range strings.SplitSeq(strings.Trim(t.pathOnly(), "/"), "/") {
		if segment != "" && !strings.HasPrefix(segment, "{") {
			fixed = append(fixed, segment)
		}
	}
	return fixed
}

// endsInVariable reports whether the path names one item: its last segment is a variable.
func (t *Tool) endsInVariable() bool {
	path := strings.TrimRight(t.pathOnly(), "/")
	return strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "{")
}

// pathOnly returns the path without the query that some documents append to it.
func (t *Tool) pathOnly() string {
	if at := strings.IndexAny(t.Path, "?#"); at >= 0 {
		return t.Path[:at]
	}
	return t.Path
}
