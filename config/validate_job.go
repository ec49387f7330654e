package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxJobWords bounds the words for one state, and the arguments of one request.
const maxJobWords = 50

func (l *loader) job(cfg *Config, key string, j *Job) {
	if l.given(key) && l.ok(key) && !l.faulty(key) && len(j.States.all()) == 0 && l.given(key+".states") {
		l.errorf(key+".states", "is empty; leave it out")
	}
	for _, use := range []struct {
		name      string
		operation *JobOperation
	}{{"status", j.Status}, {"result", j.Result}, {"cancel", j.Cancel}} {
		if use.operation != nil {
			l.jobOperation(key+"."+use.name, use.name, use.operation)
		}
	}
	if q := j.Questions; q != nil && l.ok(key+".questions") {
		l.bind(key+".questions.answer.bind", q.Answer.Bind)
		if at := key + ".questions.answer"; q.Answer.Content == "" && q.Answer.Action == "" && l.ok(at) && !l.faulty(at) {
			l.errorf(at, "needs content or action: else nothing of the answer is sent")
		}
	}
	if j.Callback != nil {
		l.callback(cfg, key+".callback", j.Callback)
	}
	said := map[string]string{}
	for _, words := range j.States.all() {
		at := key + ".states." + words.name
		if len(words.words) > maxJobWords {
			l.errorf(at, "has more than %d words", maxJobWords)
			continue
		}
		for i, word := range words.words {
			plain := PlainWord(word)
			switch before, twice := said[plain]; {
			case plain == "":
				l.errorf(at+"["+strconv.Itoa(i)+"]", "is no word")
			case twice && before != words.name:
				l.errorf(at+"["+strconv.Itoa(i)+"]", "%s stands among those of %s too", quote(word), before)
			}
			said[plain] = words.name
		}
	}
}

func (l *loader) jobOperation(key, use string, o *JobOperation) {
	switch {
	case !l.ok(key) || l.faulty(key):
		return
	case o.Operation == "" && o.Method == "":
		l.errorf(key, "needs operation or method")
	case o.Operation != "" && o.Method != "":
		l.errorf(key+".method", "can't stand beside operation, which has its own")
	case o.Operation == "" && len(o.Bind) > 0:
		l.errorf(key+".bind", "needs operation: the job's URL has no arguments")
	case use != "cancel" && o.Method != "" && o.Method != JobGet:
		l.errorf(key+".method", "must be GET: a look changes nothing")
	case use == "cancel" && o.Method == JobGet:
		l.errorf(key+".method", "must be DELETE or POST")
	}
	l.bind(key+".bind", o.Bind)
}

// bind checks where the arguments of a request about a job come from, as far as that can be known without the document.
func (l *loader) bind(key string, bind map[string]string) {
	if len(bind) > maxJobWords {
		l.errorf(key, "has more than %d arguments", maxJobWords)
		return
	}
	for _, argument := range slices.Sorted(maps.Keys(bind)) {
		text := bind[argument]
		if l.most(key+"."+argument, text, maxPointer); strings.HasPrefix(text, "/") && len(text) <= maxPointer {
			var p Pointer
			if err := p.parse(text); err != nil {
				l.errorf(key+"."+argument, "%s", err)
			}
		}
	}
}

func (l *loader) callback(cfg *Config, key string, c *JobCallback) {
	switch {
	case l.fromDocument:
		l.errorf(key, "can't stand in a document: who may call the gateway is the operator's to say")
	case len(cfg.configuredURLs()) == 0 && l.ok("server.public_url", "server.public_urls"):
		l.errorf(key, "needs server.public_url, which is where the service calls")
	}
	if s := c.Signature; s != nil && l.ok(key+".signature.header") && s.Header != "" && !headerToken(s.Header) {
		l.errorf(key+".signature.header", "%s is not the name of a header", quote(s.Header))
	}
}

// callbacks checks where callers may ask to be called.
func (l *loader) callbacks(cfg *Config) {
	const urls, secret = "tools.callback_urls", "tools.callback_secret"
	t := &cfg.Tools
	for i, o := range t.CallbackURLs {
		u, err := ParseURL(o.String())
		if at := urls + "[" + strconv.Itoa(i) + "]"; err == nil && l.ok(at) && !strings.HasPrefix(o.String(), "https:") && !u.Loopback() {
			l.errorf(at, "must be https: what a job has come to is not for everybody on the way")
		}
	}
	switch {
	case !l.ok(urls, secret):
	case l.given(urls) && len(t.CallbackURLs) == 0:
		l.errorf(urls, "is empty; leave it out")
	case len(t.CallbackURLs) > 0 && t.CallbackSecret.IsZero():
		l.errorf(secret, "is required with callback_urls")
	case len(t.CallbackURLs) == 0 && !t.CallbackSecret.IsZero():
		l.errorf(secret, "needs callback_urls")
	case !t.CallbackSecret.IsZero() && len(t.CallbackSecret.Reveal()) < 16:
		l.errorf(secret, "has %d bytes, fewer than 16", len(t.CallbackSecret.Reveal()))
	}
}

type jobWords struct {
	name  string
	words []string
}

// all returns the words of the states that have some, by the key of the state.
func (s *JobStates) all() []jobWords {
	return slices.DeleteFunc([]jobWords{
		{"working", s.Working}, {"succeeded", s.Succeeded}, {"failed", s.Failed}, {"cancelled", s.Cancelled},
	}, func(w jobWords) bool { return len(w.words) == 0 })
}

// PlainWord returns a word for a state as it is compared: in lower case, without spaces, - and _.
func PlainWord(word string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '_' {
			return -1
		}
		return r
	}, strings.ToLower(word))
}
