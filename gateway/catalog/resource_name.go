package catalog

import (
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi"
)

// route is a path template as names see it.
type route struct {
	method   string   // in lower case
	leading  []string // segments at the beginning that say nothing of the resource: api, v1
	literals []string // the other segments without variables, or their literal part
	words    []string // all segments, with variables as words
	item     bool     // the path ends in a variable
	custom   string   // the custom method at the end, as in /flows/{id}:pause
}

// leadingSegment matches segments that begin the paths of a whole API.
var leadingSegment = regexp.MustCompile(`^(?i:api|apis|rest|v?[0-9]+(\.[0-9x]+)*([._-]?(alpha|beta|rc|preview)[0-9]*)?|v[0-9]+(p[0-9]+)?((alpha|beta)[0-9]*)?|[0-9]{4}-[0-9]{2}(-[0-9]{2})?)$`)

func routeOf(op *openapi.Operation) *route {
	r := &route{method: strings.ToLower(op.Method)}
	path, _, _ := strings.Cut(op.Path, "?")
	path, _, _ = strings.Cut(path, "#")
	for segment := range strings.SplitSeq(path, "/") {
		segment = strings.TrimSuffix(strings.TrimSuffix(segment, ".json"), ".xml")
		if segment == "" {
			continue
		}
		r.custom = ""
		if at := strings.LastIndexByte(segment, ':'); at > 0 && at > strings.LastIndexByte(segment, '}') && isWord(segment[at+1:]) {
			r.custom, segment = segment[at+1:], segment[:at]
		}
		literal := withoutVariables(segment)
		if r.item = strings.ContainsAny(segment, "{}<>:"); !r.item && len(r.literals) == 0 && len(r.words) == len(r.leading) && leadingSegment.MatchString(segment) {
			r.leading = append(r.leading, segment)
		} else if ascii(literal) != "" {
			r.literals = append(r.literals, literal)
		}
		r.words = append(r.words, segment)
	}
	if len(r.literals) == 0 && len(r.leading) > 0 { // /status/v1 or /api: the path has nothing else
		last := len(r.leading) - 1
		r.literals, r.leading = r.leading[last:], r.leading[:last]
	}
	return r
}

func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isLetter(r) && (r < '0' || r > '9') && !isSeparator(r) })
}

// withoutVariables returns the literal parts of a segment.
func withoutVariables(segment string) string {
	var b strings.Builder
	depth := 0
	for _, r := range segment {
		switch r {
		case '{', '<':
			depth++
			b.WriteByte('_')
		case '}', '>':
			depth = max(depth-1, 0)
		default:
			if depth == 0 {
				b.WriteRune(r)
			}
		}
	}
	if strings.HasPrefix(segment, ":") { // a variable as some frameworks write it
		return ""
	}
	return strings.Trim(b.String(), "_-.:()'\"")
}

// resourceNames returns names of a verb and the resource of a path, the best first: "list_contents", "get_contents", "pause_flows". There
// are none if the path has no ASCII word.
func (r *route) resourceNames(op *openapi.Operation) (names []string) {
	nouns := r.literals
	verb := r.custom
	if verb == "" && len(nouns) > 0 && !r.item {
		last := len(nouns) - 1
		if r.isAction(nouns[last]) {
			verb, nouns = nouns[last], nouns[:last]
			if plain := strings.ToLower(verb); plain == r.method { // GET /x/get
				verb = plain
			}
		}
	}
	if verb == "" {
		verb = r.verb(op)
	}
	if len(nouns) == 0 && r.custom == "" && verb == r.verb(op) {
		nouns = r.words // there are variables only
	}
	nouns = nouns[max(len(nouns)-2, 0):]
	resource := strings.Join(nouns, "_")
	if name := ascii(verb + "_" + resource); name != "" {
		names = append(names, name)
	}
	if !r.item && len(names) > 0 && len(r.literals) > 0 { // unlike the item of the same path
		switch verb {
		case "get":
			names = append(names, ascii("list_"+resource))
		case "delete", "put", "update":
			names = append(names, ascii(verb+"_all_"+resource))
		}
	}
	return names
}

// ascii returns a text as a part of a name; "" if letters are lost.
func ascii(s string) string {
	name, lost := transliterated(s)
	if lost || !strings.ContainsFunc(name, isLetter) {
		return ""
	}
	return name
}

// isAction reports whether the last segment of a path names an action on what is before it.
func (r *route) isAction(segment string) bool {
	words := wordsIn(sanitize(segment))
	if len(words) == 0 || len(words) > 3 {
		return false
	}
	switch r.method {
	case "post", "put", "patch", "delete":
		return slices.Contains(actions, words[0]) || slices.Contains(readingActions, words[0])
	}
	return slices.Contains(readingActions, words[0])
}

// actions are the verbs that paths end in, and readingActions those that paths of GET requests end in, too.
var (
	actions = strings.Fields(`abort accept acknowledge activate add append apply approve archive assign attach authenticate authorize ban block cancel capture charge clear clone close
		commit complete confirm connect convert copy create deactivate decline delete deploy detach disable disconnect dismiss duplicate enable enqueue execute expire finalize finish
		flush follow forward generate grant import install interrupt invite invoke join kill leave link lock login logout mark merge migrate move mute notify pause ping play promote
		publish purge push reactivate rebuild redeliver refresh refund regenerate register reject release reload remove rename render reopen reorder reply reprocess rerun resend reset
		resize resolve restart restore resume retry revert revoke rollback rotate run schedule select send set share shutdown sign signup skip start stop submit subscribe suspend swap
		switch sync terminate test toggle transfer trigger unarchive unassign unban unblock unfollow uninstall unlink unlock unmute unpublish unregister unsubscribe update upgrade upload
		upsert validate verify void watch wipe`)
	readingActions = strings.Fields(`autocomplete compare count describe diff download explain export find lookup preview query search suggest`)
)

// verb returns the verb of the method, as far as the path tells what it does.
func (r *route) verb(op *openapi.Operation) string {
	switch r.method {
	case "get":
		if r.isList(op) {
			return "list"
		}
	case "post":
		if !r.item && len(r.literals) > 0 && isPlural(r.literals[len(r.literals)-1]) {
			return "create"
		}
	case "patch":
		return "update"
	}
	return r.method
}

// isList reports whether a GET request reads a collection.
func (r *route) isList(op *openapi.Operation) bool {
	if r.item || len(r.literals) == 0 {
		return false
	}
	return isPlural(r.literals[len(r.literals)-1]) || strings.Contains(op.Returns, ": an array") || strings.Contains(op.Returns, ": a list")
}

// isPlural reports whether an English word, or the last of several, is a plural of things that have names.
func isPlural(segment string) bool {
	words := wordsIn(ascii(segment))
	if len(words) == 0 {
		return false
	}
	word := words[len(words)-1]
	if word == "people" || word == "children" {
		return true
	}
	if len(word) < 4 || !strings.HasSuffix(word, "s") || slices.Contains(singulars, word) {
		return false
	}
	for _, end := range []string{"ss", "us", "is", "ics"} {
		if strings.HasSuffix(word, end) {
			return false
		}
	}
	return true
}

// singulars end in s, and one request reads all of such a thing.
var singulars = strings.Fields("alias atlas bonus canvas dns gas health https lens news progress series settings stats preferences totals defaults features capabilities details options")
