package finder

// action is what a call does, as far as its method or the verb of a query says it.
type action uint8

const (
	noAction action = iota
	read
	create
	update
	remove
	actions // their number
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

// verbs are verbs of English by what they ask for, as people use them of REST resources.
var verbs = map[action]string{
	read: `access browse check determine display download examine fetch find get give identify inspect know list look lookup monitor obtain poll
		query read retrieve return search see show tell verify view`,
	create: `add assign attach create establish execute generate initialize initiate insert invite issue launch make new open post publish register
		run send start submit trigger upload`,
	update: `adjust alter change configure disable edit enable mark modify move patch put rename replace set update`,
	remove: `cancel clear delete destroy detach discard drop erase purge remove revoke unregister`,
}

// actionOfVerb maps the stems of verbs to what they ask for.
var actionOfVerb = func() map[string]action {
	all := map[string]action{}
	for a := read; a < actions; a++ {
		for verb := range wordSet(verbs[a]) {
			all[languages[0].reduce(verb)] = a
		}
	}
	return all
}()

// Words by which a query asks for a list, or for one thing, as stems.
var (
	asksForList = stemSet("list all search find")
	asksForOne  = stemSet("id identifier specific detail single")
)

// finding are the stems of the words that tools have which find a thing by its name.
var finding = []string{languages[0].reduce("search"), languages[0].reduce("find")}

func stemSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range wordSet(list) {
		set[languages[0].reduce(word)] = true
	}
	return set
}

// intent is what a query asks for beside its words.
type intent struct {
	// actions says how far the query asks for each action: 0 not at all, 1 by its first word.
	actions [actions]float64
	list    bool // it asks for a list, and not for one thing
	one     bool // it asks for one thing, and not for a list
}

// questions are words with which a query begins that asks to read something.
var questions = wordSet("how what when where which who whom whose")

// laterVerb is the weight of a verb that is not the first word.
const laterVerb = 0.5

// read takes up the n-th word of a query.
func (i *intent) read(n int, stem string) {
	if a := actionOfVerb[stem]; a != noAction {
		weight := laterVerb
		if n == 0 {
			weight = 1
		}
		i.actions[a] = max(i.actions[a], weight)
	}
	i.list = i.list || asksForList[stem]
	i.one = i.one || asksForOne[stem]
}

// settle drops contradictions: a query that asks for both a list and one thing says nothing about either.
func (i *intent) settle() {
	if i.list && i.one {
		i.list, i.one = false, false
	}
}

// factor returns how far the intent raises the score of a tool.
func (i *intent) factor(t *entry) float64 {
	f := 1 + verbGain*i.actions[t.action]
	if i.one && t.one || i.list && !t.one && t.action == read {
		f *= 1 + numberGain
	}
	return f
}
