package readiness

import (
	"net/http"
	"slices"
	"strings"

	"drawbridge/openapi/httpmethod"
)

// folderWords are words of operations that read folders as well as files.
var folderWords = []string{"directory", "directories", "folder", "folders"}

// findPaths finds parameters of the path that are paths of a tree, and take no slashes, or not the root (ADR 0074).
func findPaths(d *document, subjects []*subject) {
	trees := map[string]*subject{} // operations whose path ends with a parameter that takes slashes, by this path
	for _, s := range subjects {
		if ends, _ := s.Operation.TakesSlashes(); ends && (trees[s.Operation.Path] == nil || s.Operation.Method == http.MethodGet) {
			trees[s.Operation.Path] = s
		}
	}
	paths := map[string]bool{} // without a slash at the end
	for key := range d.operations {
		_, path, _ := strings.Cut(key, " ")
		paths[strings.TrimRight(path, "/")] = true
	}
	for _, s := range subjects {
		for _, name := range s.Operation.OneSegment() {
			s.checkSegment(name, trees)
		}
		if end := strings.LastIndexByte(s.Operation.Path, '/'); end >= 0 && !paths[s.Operation.Path[:end]] {
			s.checkRoot()
		}
	}
}

// checkSegment finds a path that takes no slashes. In the middle of the operation's path it must be one elsewhere.
func (s *subject) checkSegment(name string, trees map[string]*subject) {
	p := s.pathParameter(name)
	before, after, ok := strings.Cut(s.Operation.Path, "{"+name+"}")
	if p == nil || !ok {
		return
	}
	tree := trees[before+"{"+name+"}"]
	f := found{code: PathOneSegment, at: p.written, parameter: p}
	switch {
	case tree != nil:
		operation := tree.Operation.Method + " " + tree.Operation.Path
		f.reason = "a path, as that of " + operation
		f.message = quoted(name) + " is a path, as that of " + operation + ", and takes no slash; list it in x-multi-segment of the operation"
	case after == "":
		f.reason = "a path by its name or description; leave this action out if it has no slashes"
		f.message = quoted(name) + " seems to be a path, and takes no slash; list it in x-multi-segment of the operation if it is one"
	default:
		return
	}
	s.add(f)
}

// checkRoot finds an operation that reads files and folders by their paths, and not the folder above all of them.
func (s *subject) checkRoot() {
	ends, empty := s.Operation.TakesSlashes()
	if !ends || empty || !httpmethod.IsSafe(s.Operation.Method) || !s.readsFolders() {
		return
	}
	path := s.Operation.Path
	name := strings.Trim(path[strings.LastIndexByte(path, '/')+1:], "{+*}")
	if p := s.pathParameter(name); p != nil {
		s.add(found{code: PathRootMissing, at: p.written, parameter: p,
			reason:  `it reads folders, and no other operation reads the one above all; leave this action out if "" is not its path`,
			message: "it reads folders by their paths, and " + quoted(name) + ` takes no "", the path of the one above all; list it in x-empty-segment of the operation`})
	}
}

// readsFolders reports whether the summary, the first sentence of the description, or a value of a parameter has a word for a folder.
func (s *subject) readsFolders() bool {
	said := append(words(s.Operation.Summary), words(firstSentence(s.Operation.Description))...)
	for _, p := range s.parameters {
		for _, value := range s.walk.keyword(p.schema, "enum").Items() {
			said = append(said, words(value.Text())...)
		}
	}
	return slices.ContainsFunc(said, func(w string) bool { return slices.Contains(folderWords, w) })
}

// pathParameter returns a parameter of the path; nil if callers can't give it.
func (s *subject) pathParameter(name string) *parameter {
	for i := range s.parameters {
		p := &s.parameters[i]
		if _, ok := s.argument(p.in, p.name); ok && p.in == "path" && p.name == name {
			return p
		}
	}
	return nil
}
