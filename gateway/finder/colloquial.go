package finder

import "strings"

// faintWords are words of everyday speech that say little about the tool that is meant. They are no stop words, since some
// APIs have a resource of that name.
var faintWords = wordSet(`actually again ago already always any anybody anymore anyone anything around away back bit called cannot current currently different else
	entitled ever everybody everyone everything everywhere existing far finally fine first forever friend gone good great guy guys happen
	happened happening hello here him himself hurry just kindly lately later least let lets little look lot many maybe mean moment month morning
	most much myself named never newly next nicely night nobody nothing now off ok okay old once other others ours ourselves out over please
	pretty properly quickly quite rather really right same second small somebody somehow someone something sometimes somewhere soon still stuff
	sure thank thanks theirs thing things third time today together tomorrow tonight too up very week well won yesterday yet yours`)

// relatives are people who are in no document, such as "my aunt".
var relatives = wordSet(`aunt boss brother colleague colleagues cousin coworker coworkers dad daughter father friends grandma grandpa husband landlord
	mom mother mum neighbor neighbors neighbour neighbours sister son uncle wife`)

// lightVerbs are verbs of everyday speech that mean many things.
var lightVerbs = stemSet("ask be bring come give go happen have keep know leave let make mean need pick put say see take talk tell throw try want")

// contracted are the words that contractions leave: don't, I'll, we're.
var contracted = wordSet("aren couldn didn doesn don hadn hasn haven isn ll re shouldn ve wasn weren won wouldn ain")

const (
	// faintWeight is the weight of a word of faintWords, lightWeight that of one of lightVerbs.
	faintWeight, lightWeight = 0.25, 0.4
	// phrasalWeight is the weight of the meaning of a phrasal verb.
	phrasalWeight = 0.6
	// maxApart is the number of words between a verb and its particle: "throw Bob out of our group".
	maxApart = 5
)

// phrasal maps verbs with their particles to verbs of APIs.
var phrasal = func() map[[2]string][]string {
	all := map[[2]string][]string{}
	for line := range strings.Lines(phrasalVerbs) {
		verbs, meaning, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			continue
		}
		stems := strings.Fields(meaning)
		for i := range stems {
			stems[i] = languages[0].reduce(stems[i])
		}
		for verb := range strings.SplitSeq(verbs, ", ") {
			first, particle, _ := strings.Cut(verb, " ")
			all[[2]string{languages[0].reduce(first), particle}] = stems
		}
	}
	return all
}()

// phrasalVerbs are phrasal verbs and their meanings, one meaning a line.
const phrasalVerbs = `
bring back, get back, put back: restore
call off: cancel
clean up, tidy up: prune delete
cut off, shut off, switch off, turn off: disable stop mute
find out, look up: get lookup
get rid, throw away, throw out, wipe out, chuck out, take down, kick out, take out, take off, take away: delete remove
give back, pay back, send back: return refund
hand in, send in, turn in: submit
hand over, pass on: transfer ownership
let in: allow
let know: send notify
line up: queue
lock out: block
log in, log on, sign in, sign on: login session
log off, log out, sign off, sign out: logout
make up: create
put away: archive
put off: postpone reschedule
put together: merge
read out, read aloud: speech
ring up: call
set up, put up: create configure
shut down: stop shutdown
sign up: register
switch on, turn on: enable start
take back: delete undo revoke
tick off: complete
turn down, turn up: volume
write down: create transcribe
`

// particles are the second words of phrasal verbs.
var particles = func() map[string]bool {
	all := map[string]bool{}
	for verb := range phrasal {
		all[verb[1]] = true
	}
	return all
}()

// idiom is a phrasal verb in a query.
type idiom struct {
	verb, particle int      // indices of its words
	meaning        []string // stems
}

// idiomsOf returns the phrasal verbs of a query; nil if it has none.
func idiomsOf(text string) (all []idiom) {
	var last [maxApart + 1]string
	at := 0
	words(text, func(word string) {
		if particles[word] {
			for back := 1; back <= min(maxApart, at); back++ {
				if meaning := phrasal[[2]string{languages[0].reduce(last[(at-back)%len(last)]), word}]; meaning != nil {
					all = append(all, idiom{at - back, at, meaning})
					break
				}
			}
		}
		last[at%len(last)] = word
		at++
	})
	return all
}

// spoken returns the share of a word's weight in everyday speech.
func spoken(word, stem string) float64 {
	switch {
	case faintWords[word]:
		return faintWeight
	case lightVerbs[stem]:
		return lightWeight
	}
	return 1
}
