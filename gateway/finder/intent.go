package finder

import "cmp"

// action is the kind of a call, derived from its method or from the verb of a query.
type action uint8

const (
	noAction action = iota
	read
	create
	update
	remove
	actions // number of actions
)

// actionOf returns the action of an HTTP method (RFC 9110 section 9.3).
func actionOf(method string) action {
	switch method {
	case "GET", "HEAD", "QUERY":
		return read
	case "POST":
		return create
	case "PUT", "PATCH":
		return update
	case "DELETE":
		return remove
	}
	return noAction
}

// verbs maps actions to English verbs, as they are used of REST resources.
var verbs = map[action]string{
	read: `access browse check determine display download examine fetch find get give identify inspect know list look lookup monitor obtain poll
		query read retrieve return search see show tell verify view`,
	create: `add assign attach create establish execute generate initialize initiate insert invite issue launch make new open post publish register
		run send start submit trigger upload`,
	update: `adjust alter change configure disable edit enable mark modify move patch put rename replace set update`,
	remove: `cancel clear delete destroy detach discard drop erase purge remove revoke unregister`,
}

// actionOfVerb maps the stems of verbs to actions.
var actionOfVerb = func() map[string]action {
	all := map[string]action{}
	for a := read; a < actions; a++ {
		for verb := range wordSet(verbs[a]) {
			all[languages[0].reduce(verb)] = a
		}
	}
	return all
}()

// Stems by which a query asks for a list, or for one item.
var (
	asksForList = stemSet("list all search find")
	asksForOne  = stemSet("id identifier specific detail single")
)

// lookupStems are the stems in the names of tools that find an item by its name.
var lookupStems = []string{languages[0].reduce("search"), languages[0].reduce("find")}

// personStems are the stems in the names of tools about people.
var personStems = []string{languages[0].reduce("person")}

func stemSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range wordSet(list) {
		set[languages[0].reduce(word)] = true
	}
	return set
}

// intent is the part of a query's meaning that is not in its individual words.
type intent struct {
	// actions holds the degree to which the query asks for each action: 0 not at all, 1 by its first word.
	actions [actions]float64
	list    bool // the query asks for a list
	single  bool // the query asks for one item
}

// questionWords are the words that begin a question, which asks to read something.
var questionWords = wordSet("how what when where which who whom whose")

// laterVerb is the weight of a verb that is not the first word.
const laterVerb = 0.5

// read adds the n-th word of a query.
func (i *intent) read(n int, stem string) {
	if a := actionOfVerb[stem]; a != noAction {
		weight := laterVerb
		if n == 0 {
			weight = 1
		}
		i.actions[a] = max(i.actions[a], weight)
	}
	i.list = i.list || asksForList[stem]
	i.single = i.single || asksForOne[stem]
}

// determiners are the words between a verb and its object.
var determiners = wordSet("a an the this these all every my our")

// readFirst reads the first two words of a query. A word before a determiner asks to do something, even if it is the name
// of a thing elsewhere: "silence an alert", "tag the release".
func (i *intent) readFirst(first, second string) {
	stem := languages[0].reduce(first)
	if determiners[second] && actionOfVerb[stem] == noAction && !questionWords[first] && !fillers[first] && !languages[0].stop[first] {
		i.actions[create], i.actions[update] = laterVerb, laterVerb
	}
}

// settle drops contradictions: a query that asks for both a list and one item states neither.
func (i *intent) settle() {
	if i.list && i.single {
		i.list, i.single = false, false
	}
}

// factor returns the boost of a tool's score by the intent. valued reports whether the tool has the verb of the query as a
// value of an argument: it cancels a run by setting its state to CANCELLED.
func (i *intent) factor(t *entry, valued bool) float64 {
	asked := i.asked(t)
	if valued && (t.does(create) || t.does(update)) {
		asked = 1
	}
	f := 1 + verbGain*asked
	if i.actions[create] == 1 && t.does(remove) || i.actions[remove] == 1 && (t.does(create) && !valued || t.does(read)) || i.actions[read] == 1 && t.does(remove) {
		f *= oppositeFactor
	}
	if i.single && t.single || i.list && !t.single && t.does(read) {
		f *= 1 + numberGain
	}
	return f
}

// asked returns the degree to which the query asks for the action of a tool: its verb counts more than its method.
func (i *intent) asked(t *entry) float64 {
	if t.verb == noAction || t.verb == t.action {
		return i.actions[t.action]
	}
	return max(i.actions[t.verb], methodShare*i.actions[t.action])
}

// does reports whether a tool is of that action by its verb or, without one, by its method.
func (t *entry) does(a action) bool {
	if t.verb != noAction {
		return t.verb == a
	}
	return t.action == a
}

// verbOf returns the action of the verb that a tool's title or summary begins with or, without a summary, of the first verb in
// its name: many services use POST for all that is not a read.
func verbOf(t *Tool, stem func(word string) string) (found action) {
	if summary := cmp.Or(t.Configured.Title, t.Summary); summary != "" {
		first := true
		words(prefix(summary, maxVerb), func(word string) {
			if first {
				found, first = actionOfVerb[stem(word)], false
			}
		})
		return found
	}
	for _, text := range t.texts(fieldName) {
		words(text, func(word string) {
			if found == noAction {
				found = actionOfVerb[stem(word)]
			}
		})
	}
	return found
}

// maxVerb limits how much of a summary is searched for its first word, in bytes.
const maxVerb = 40
