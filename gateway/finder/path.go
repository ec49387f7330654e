package finder

import "strings"

// segments returns the segments of the path that are no variables.
func (t *Tool) segments() (fixed []string) {
	for segment := range strings.SplitSeq(strings.Trim(t.pathOnly(), "/"), "/") {
		if segment != "" && !strings.HasPrefix(segment, "{") {
			fixed = append(fixed, segment)
		}
	}
	return fixed
}

// endsInVariable reports whether the path names one thing: its last segment is a variable.
func (t *Tool) endsInVariable() bool {
	path := strings.TrimRight(t.pathOnly(), "/")
	return strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "{")
}

// pathOnly returns the path without the query that some documents put there.
func (t *Tool) pathOnly() string {
	if at := strings.IndexAny(t.Path, "?#"); at >= 0 {
		return t.Path[:at]
	}
	return t.Path
}
