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

// irregular maps irregular forms of verbs and nouns to the form that Porter's algorithm stems.
var irregular = func() map[string]string {
	all := map[string]string{}
	for forms := range strings.SplitSeq(`began begun begin, bought buy, broke broken break, brought bring, built build, came come, caught catch, children child,
		chose chosen choose, drawn drew draw, drove driven drive, fell fallen fall, forgot forgotten forget, found find, gave given give, goes gone went go,
		got gotten get, grew grown grow, held hold, hid hidden hide, kept keep, knew known know, lent lend, lost lose, made make, met meet, paid pay,
		people person, ran run, said say, sang sung sing, saw seen see, sent send, shown show, sold sell, spent spend, spoke spoken speak, stole stolen steal,
		sung sing, taken took take, taught teach, threw thrown throw, told tell, understood understand, won win, worn wore wear, written wrote write`, ",") {
		words := strings.Fields(forms)
		for _, form := range words[:len(words)-1] {
			all[form] = words[len(words)-1]
		}
	}
	return all
}()

// stemEnglish is Porter's algorithm for English without the collisions that confuse things of APIs: those of
// distinctStems, and those of a person or thing that acts with its action, as customer and custom, container and contain.
func stemEnglish(env *snowballstem.Env) bool {
	word := env.Current()
	if regular := irregular[word]; regular != "" {
		env.SetCurrent(regular)
		word = regular
	}
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
