package finder

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// distinctStems are stems of English words that Porter's algorithm gives the stem of another word, with that of which an
// API has both: listings are not lists, and settings not what "set" does. A word has the stem if it begins with the
// prefix, which is all but its ending.
var distinctStems = []struct{ prefix, stem string }{
	{"activit", "activit"},   //nolint:misspell // active; a stem is no word
	{"authorit", "authorit"}, // author
	{"authoriz", "authoriz"}, // author
	{"authoris", "authoriz"}, // author
	{"building", "building"}, // build
	{"conversation", "conversation"},
	{"directive", "directive"},         // direct
	{"executive", "executive"},         // execute
	{"finding", "finding"},             // find
	{"holding", "holding"},             // hold
	{"important", "important"},         // import
	{"initial", "initial"},             // initiate
	{"international", "international"}, // internal
	{"listing", "listing"},             // list
	{"locale", "locale"},               // local
	{"localiz", "localiz"},             // local
	{"meeting", "meeting"},             // meet
	{"operator", "operator"},           // operate
	{"personaliz", "personaliz"},       // person
	{"production", "production"},       // product
	{"publication", "publication"},     // public
	{"rating", "rating"},               // rate
	{"recording", "recording"},         // record
	{"setting", "setting"},             // set
	{"severit", "severit"},             // several
	{"terminal", "terminal"},           // terminate
	{"training", "training"},           // train
	{"transition", "transition"},       // transit
	{"universit", "universit"},         // universe
}

// stemEnglish is Porter's algorithm for English without the collisions that confuse things of APIs: those of
// distinctStems, and those of a person or thing that acts with its action, as customer and custom, container and contain.
func stemEnglish(env *snowballstem.Env) bool {
	word := env.Current()
	for _, d := range distinctStems {
		if strings.HasPrefix(word, d.prefix) && len(word) <= len(d.prefix)+len("ations") {
			env.SetCurrent(d.stem)
			return true
		}
	}
	ok := english.Stem(env)
	if agent := strings.TrimSuffix(word, "s"); strings.HasSuffix(agent, "er") && env.Current() == strings.TrimSuffix(agent, "er") {
		env.SetCurrent(agent)
	}
	return ok
}
