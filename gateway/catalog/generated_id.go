package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi"
)

// Marks that generators leave in ids.
var (
	// springfox has the method, and a number if an id is there already: getOrderUsingGET_1.
	springfox = regexp.MustCompile(`^(.+)Using(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE)(_[0-9]+)?$`)
	// numbered are ids that springdoc, drf-spectacular and others number in the order of the document: list_1.
	numbered = regexp.MustCompile(`^(.*[A-Za-z])_([0-9]{1,3})$`)
	// versioned are ids of NestJS with the version of their path: UsersController_list_v1.
	versioned = regexp.MustCompile(`^(.*[A-Za-z0-9])_(v[0-9]+)$`)
	// methodOwner is the class of a method: UsersController_list, user-controller.list, UserService_GetUser.
	methodOwner = regexp.MustCompile(`^(.*?[A-Za-z0-9])[_-]?(Controller|controller|Service|Resource|Endpoint|Handler|ViewSet)(?:Impl)?[_.#/:](.+)$`)
	// opaque are digests and UUIDs, which l5-swagger and others generate.
	opaque = regexp.MustCompile(`^_?([0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)
)

// modules are the parts of the source tree that ids of Connexion and others begin with: app.controllers.users.list.
var modules = []string{"api", "app", "apis", "controller", "controllers", "endpoint", "endpoints", "handler", "handlers", "main", "resource", "resources",
	"route", "router", "routers", "routes", "server", "src", "view", "views"}

// verbsAlone are ids that name no resource.
var verbsAlone = strings.Fields("add all create delete destroy edit fetch find get handle head index insert list one options partial patch post put query read remove replace retrieve save search show store update")

// idNames returns the names that an id stands for, the shortest first; none if the id says no more than method and path.
func idNames(op *openapi.Operation, r *route) []string {
	if f := ascii(function(op.ID, op.Method, op.Path)); f != "" {
		return []string{r.withResource(f)}
	}
	id := strings.TrimSpace(op.ID)
	if opaque.MatchString(id) || r.isPathID(id) {
		return nil
	}
	whole := latin(id)
	if whole == "" {
		return nil
	}
	short, repeated := r.withoutMarks(id)
	names := []string{r.withResource(latin(short))}
	if names[0] == "" {
		names = nil
	}
	if !repeated && !slices.Contains(names, whole) {
		names = append(names, whole)
	}
	return names
}

// latin returns an id as a name; "" if that has no letters.
func latin(id string) string {
	if name, _ := transliterated(id); strings.ContainsFunc(name, isLetter) {
		return name
	}
	return ""
}

// withoutMarks returns an id without what its generator has added. It is repeated if the id can't be used as a whole, because that
// depends on the order of the document.
func (r *route) withoutMarks(id string) (short string, repeated bool) {
	if m := springfox.FindStringSubmatch(id); m != nil && strings.EqualFold(m[2], r.method) {
		return m[1], true
	}
	if m := numbered.FindStringSubmatch(id); m != nil && !r.has(m[2]) {
		id, repeated = m[1], true
		if m := springfox.FindStringSubmatch(id); m != nil && strings.EqualFold(m[2], r.method) {
			return m[1], true
		}
	}
	if m := versioned.FindStringSubmatch(id); m != nil && r.has(m[2]) {
		id = m[1]
	}
	if m := methodOwner.FindStringSubmatch(id); m != nil {
		id = withOwner(m[1], m[3])
	}
	whole := id
	for {
		first, rest, found := strings.Cut(id, ".")
		if !found || !strings.ContainsAny(rest, "._-") && len(wordsIn(sanitize(rest))) < 2 || !slices.Contains(modules, strings.ToLower(first)) {
			break
		}
		id = rest
	}
	if at := strings.LastIndexByte(id, '.'); id != whole && at >= 0 {
		id = withOwner(id[:at], id[at+1:])
	}
	if at := len(id) - len("Params"); at > 0 && id[at:] == "Params" && !r.has("params") && !r.has("param") && len(wordsIn(sanitize(id))) > 2 {
		id = id[:at] // go-swagger names parameters in this way, and documents have them as ids
	}
	return r.withoutLeading(id), repeated
}

// withOwner returns a method with its class, unless the method names the same: UserService_GetUser is GetUser.
func withOwner(class, method string) string {
	stem := func(word string) string { return strings.TrimSuffix(strings.TrimSuffix(word, "s"), "e") }
	words := wordsIn(sanitize(method))
	for _, word := range wordsIn(sanitize(class)) {
		if !slices.ContainsFunc(words, func(w string) bool { return stem(w) == stem(word) }) {
			return class + "_" + method
		}
	}
	if len(words) < 2 {
		return class + "_" + method
	}
	return method
}

// withoutLeading returns an id without the leading segments of the path that it begins with: api_v1_users_list is users_list.
func (r *route) withoutLeading(id string) string {
	lead := strings.ToLower(sanitize(strings.Join(r.leading, "_"))) + "_"
	name := sanitize(id)
	if len(lead) > 1 && len(name) > len(lead) && strings.ToLower(name[:len(lead)]) == lead && len(wordsIn(name[len(lead):])) > 1 {
		return name[len(lead):]
	}
	return id
}

// withResource adds the resource to a name that is a verb.
func (r *route) withResource(name string) string {
	words := wordsIn(name)
	if len(r.literals) == 0 || slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(verbsAlone, word) }) {
		return name
	}
	resource := r.literals[len(r.literals)-1]
	if slices.ContainsFunc(wordsIn(sanitize(resource)), func(word string) bool { return slices.Contains(words, word) }) {
		return name
	}
	return cmp.Or(ascii(name+"_"+resource), name)
}

// has reports whether the path has a word.
func (r *route) has(word string) bool {
	return slices.ContainsFunc(r.words, func(segment string) bool { return slices.Contains(wordsIn(sanitize(segment)), word) || segment == word })
}

// isPathID reports whether a generator has made an id of the path and the method alone, as in ApiV1UsersByIdGet: with the leading
// segments of the path, or with the method at the end.
func (r *route) isPathID(id string) bool {
	var all, by, literals string
	for _, segment := range r.words {
		all += squeezed(segment)
		if strings.ContainsAny(segment, "{}<>:") {
			by += "by" + squeezed(segment)
		} else {
			by, literals = by+squeezed(segment), literals+squeezed(segment)
		}
	}
	const long = 40 // nobody has written such an id by hand
	isLong := len(id) > long
	id = squeezed(id)
	leading := len(r.leading) > 0
	if leading && (id == r.method+literals || id == literals+r.method || id == literals) {
		return literals != ""
	}
	for _, path := range []string{all, by} {
		switch id {
		case path + r.method:
			return len(r.words) > 1 || leading
		case r.method + path, path:
			return leading
		case r.method + strings.TrimPrefix(path, squeezed(strings.Join(r.leading, ""))):
			return isLong
		}
	}
	return false
}
