package finder

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// language is a language whose words are reduced to their stems.
type language struct {
	name string
	stem func(*snowballstem.Env) bool
	// stop holds the stop words. They also identify the language of a text.
	stop map[string]bool
}

// languages are the supported languages. The first is the default.
var languages = []*language{
	{"english", stemEnglish, wordSet(`a about across after all also an and any are as at be been before being between but by can could did do does
		each every for from had has have having he her his how i if in into is it its may me more most must my no nor not of on one only or our
		over per same several shall she should so some such than that the their them then there these they this those through to under until up
		us use used uses using via was we were what when where which while who whom whose why will with within would you your
		given particular specific specified`)},
	{"german", german.Stem, wordSet(`aber alle als am an auch auf aus bei bis das dass dem den der des die dies diese diesem diesen dieser durch ein eine
		einem einen einer eines es für hat im in ist kann mit nach nicht oder sich sie sind über um und unter vom von vor welche werden wird wurde zu
		zum zur`)},
	{"french", french.Stem, wordSet(`au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur ou où par pas pour qu que qui sa se
		ses si son sont sur un une vous`)},
	{"spanish", spanish.Stem, wordSet(`al como con cual cuando de del desde el ella en entre es esta este la las lo los más no para pero por que se si sin
		sobre son su sus un una unos y`)},
	{"portuguese", portuguese.Stem, wordSet(`ao aos as com como da das de do dos e em entre esta este mais na nas não no nos o os ou para pela pelo por
		que se sem seu sua um uma`)},
	{"italian", italian.Stem, wordSet(`al alla che con da dal dalla dei del della delle di e gli i il in la le lo nel nella non o per più si sono su tra un
		una uno`)},
	{"dutch", dutch.Stem, wordSet(`aan als bij dat de deze die dit door een en er het hij in is kan maar met naar niet of om onder ook op over te tot uit
		van voor was wat wordt zijn`)},
	{"russian", russian.Stem, wordSet(`без более бы быть в все для до его ее если за и из или их к как когда который на не о об от по при с со также то
		что это`)},
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// minEvidence is the number of stop words below which a text is taken for English.
const minEvidence = 8

// detect returns the language with the most frequent stop words.
func detect(texts func(yield func(text string))) *language {
	counts := make([]int, len(languages))
	texts(func(text string) {
		words(text, func(word string) {
			for i, l := range languages {
				if l.stop[word] {
					counts[i]++
				}
			}
		})
	})
	best := 0
	for i, n := range counts {
		if n >= minEvidence && n > counts[best] {
			best = i
		}
	}
	return languages[best]
}

// stemOf returns the stem of a lower-case word, or "" for a stop word.
func (l *language) stemOf(word string) string {
	if tooShort(word) || l.stop[word] {
		return ""
	}
	return l.reduce(word)
}

func (l *language) reduce(word string) string {
	env := snowballstem.NewEnv(word)
	l.stem(env)
	return env.Current()
}
