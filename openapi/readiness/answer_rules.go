package readiness

import (
	"slices"
	"strings"
)

// largeItem is the number of members of an item above which a choice of fields is missed.
const largeItem = 15

// pagingWords are words of the names of parameters that bound a list.
var pagingWords = []string{"limit", "page", "offset", "cursor", "top", "first", "last", "size", "count", "take", "skip", "start", "after", "before", "per", "max", "maximum", "next", "continue", "rows", "num", "token", "marker", "since", "until", "from"}

// choiceWords are words of the names of parameters that choose the members of an answer.
var choiceWords = []string{"fields", "field", "select", "include", "includes", "expand", "projection", "view", "properties", "attributes", "columns", "mask", "exclude", "embed"}

// checkAnswer looks at the responses.
func (s *subject) checkAnswer() {
	safe := strings.EqualFold(s.Operation.Method, "GET")
	responses := s.node.Get("responses")
	if safe && s.answer.schema == nil && !s.answer.empty {
		at := s.answer.node
		if at == nil {
			at = responses
		}
		s.find(AnswerUndocumented, at, "no schema says what it returns; a model can't plan the next call, and can't choose fields")
	}
	if !s.answer.errors {
		s.find(ErrorsUndocumented, responses, "no response for a failure is documented; say when a call fails")
	}
	item := s.walk.listed(s.answer.schema)
	if !safe || item == nil || s.walk.left < 0 || strings.HasSuffix(s.Operation.Path, "}") {
		return
	}
	if !s.hasParameter(pagingWords) {
		s.find(PagingMissing, s.answer.node, "it returns a list, and no parameter bounds it; a long one fills the context of a model")
	}
	if n := len(s.walk.members(item)); n > largeItem && !s.hasParameter(choiceWords) && !s.ChoosesFields {
		s.find(FieldChoiceMissing, s.answer.node, "it returns items of %d members, and no parameter chooses among them", n)
	}
}

// hasParameter reports whether the name of a parameter in the query or header has one of some words.
func (s *subject) hasParameter(some []string) bool {
	return slices.ContainsFunc(s.parameters, func(p parameter) bool {
		return (p.in == "query" || p.in == "header") && slices.ContainsFunc(words(p.name), func(w string) bool { return slices.Contains(some, w) })
	}) || s.hasMember(some)
}

// hasMember reports whether the name of a member of an object in the query has one of some words, as Spring's Pageable.
func (s *subject) hasMember(some []string) bool {
	for _, p := range s.parameters {
		if p.in != "query" || s.walk.kind(p.schema) != "object" {
			continue
		}
		for _, m := range s.walk.members(p.schema) {
			if slices.ContainsFunc(words(m.name), func(w string) bool { return slices.Contains(some, w) }) {
				return true
			}
		}
	}
	return false
}

var (
	// readingWords are verbs of operations that only read.
	readingWords = []string{"search", "query", "find", "list", "get", "fetch", "lookup", "filter", "count", "read", "retrieve", "describe", "browse", "autocomplete", "suggest", "preview", "estimate"}
	// changingWords are words of operations that may do more, whatever their verb is.
	changingWords = []string{"create", "update", "delete", "set", "add", "save", "run", "import", "mark", "send", "cancel", "generate", "register", "reserve", "consume", "ack", "token", "session", "login", "upsert", "insert", "start", "stop", "put", "post", "apply", "submit", "upload", "remove", "execute", "or", "export", "claim", "next", "lock", "acquire", "subscribe", "job", "scheduled"}
)

// checkSafety finds operations of method POST that only read, by their names.
func (s *subject) checkSafety() {
	if s.ReadOnly || !strings.EqualFold(s.Operation.Method, "POST") || !s.readsOnly() {
		return
	}
	at := s.node.Get("operationId")
	if at == nil {
		at = s.node
	}
	s.find(ReadByPost, at, "by its name it only reads, but a POST may change something, so that clients ask before each call; say so with a rule, set: {annotations: {read_only: true}}, if it is true")
}

// readsOnly reports whether the names of an operation say that it reads, and nothing says that it does more.
func (s *subject) readsOnly() bool {
	id := words(s.Operation.ID)
	segments := strings.Split(strings.TrimRight(s.Operation.Path, "/"), "/")
	last := words(segments[len(segments)-1])
	said := append(slices.Clone(id), words(s.Operation.Path)...)
	if len(id) > 0 && id[len(id)-1] == "post" { // the method, which FastAPI and others append
		said = append(slices.Clone(id[:len(id)-1]), words(s.Operation.Path)...)
	}
	if slices.ContainsFunc(said, func(w string) bool { return slices.Contains(changingWords, w) }) {
		return false
	}
	reads := func(all []string) bool { return len(all) > 0 && slices.Contains(readingWords, all[0]) }
	return reads(id) || reads(last) && len(last) == 1 && last[0] != "read" // which marks as read
}
