package widening

import (
	"maps"
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/openapi/origin"
)

// Ways in which an operation is wider; the operation follows in the text.
const (
	LetThrough     = "tools.include and tools.exclude let calls through"
	FewerScopes    = "fewer or other scopes suffice for calls"
	OtherCondition = "a condition is gone or another, for calls"
	NoConsent      = "no consent is needed for calls"
	NotAsked       = "callers give arguments that the user was asked for, in calls"
	NotFixed       = "callers give arguments that were fixed or hidden, or other values are fixed, in calls"
	LessHidden     = "sensitive_fields hides fewer fields in answers"
	SharedAnswers  = "cache.shared gives other callers the answers"
	MoreJobs       = "job does more than before after calls"
	HigherRate     = "rate is gone or allows more calls"
	OtherSetting   = "a setting is another that can't be compared, for calls"
	PromisesMore   = "annotations promise clients more, or warn of less, before calls"
)

// Ways in which a newer document makes an operation wider, besides those above.
const (
	Unhidden        = "x-internal and the selectors of tools let calls through"
	NewlyAtEndpoint = "more endpoints serve calls"
	OtherCredential = "the security requirements select another credential for calls"
	OtherOrigin     = "the servers are another origin for calls"
	NotJudged       = "an argument that a condition names is gone, in calls"
	MoreSlashes     = "arguments may hold slashes and lead to more paths, for calls"
	ChangesData     = "the method is no longer safe, under the same operationId, for calls"
)

// Access is the access to one operation: what its callers need, and what they get. Opened is the one comparison of two. The
// zero value is an operation that is no tool.
type Access struct {
	// Exposed reports whether the operation is a tool.
	Exposed bool
	// Scopes holds the scope sets of which a caller needs one, by the endpoint; "" is /mcp. It is nil if no token is needed.
	Scopes map[string][][]string
	// Condition is the condition that calls must satisfy; "" for none.
	Condition string
	// Confirmed reports whether calls need the user's consent.
	Confirmed bool
	// Asked lists arguments that the user is always asked for, Fixed those that callers can't give, see [Fixed], and Hidden the
	// redacted fields of responses, see [Hidden].
	Asked, Fixed, Hidden []string
	// SharedAnswers reports whether cached responses are given to other callers.
	SharedAnswers bool
	// Jobs lists the requests that a job may cause, see [JobCalls].
	Jobs []string
	// Promises are what clients are told that calls don't do, and by the method alone; see promisesOf.
	Promises, ByMethod Promises
	// Rate limits the calls of clients.
	Rate Rate
	// Rest is the state of settings that no code compares, see [State].
	Rest State
	// ByDocument is the part that a document alone decides. It is zero while configurations are compared, which have keys of their own
	// for it.
	ByDocument ByDocument
}

// ByDocument is the part of the access to an operation that no configuration restricts, and its document decides.
type ByDocument struct {
	// Endpoints lists the further endpoints with the tool.
	Endpoints []string
	// Credentials lists the security schemes whose credentials are sent; "default" stands for that of all schemes. Nil if none is.
	Credentials []string
	// Judged lists the arguments that the condition names.
	Judged []string
	// Origin is the origin that calls go to; zero if it is unknown.
	Origin origin.Origin
	// Slashes lists the variables of the path whose values may hold slashes, see [openapi.Operation.SlashVariables]: such an argument
	// may lead to the path of another operation.
	Slashes []string
	// Safe reports whether the method promises not to change data.
	Safe bool
}

// Rate is a rate limit; the zero value is none.
type Rate struct {
	Interval time.Duration `json:"interval"` // between two calls on average
	Burst    int           `json:"burst"`
	Each     bool          `json:"each,omitempty"` // each principal has its own
}

func rateOf(r *config.CallRate) Rate {
	if !r.On() {
		return Rate{}
	}
	return Rate{Interval: r.Rate.Interval(), Burst: r.AtOnce(), Each: r.Per == config.PerPrincipal}
}

// exceeds reports whether a rate lets calls through that another one refuses.
func (r Rate) exceeds(was Rate) bool {
	switch {
	case was.Interval == 0:
		return false
	case r.Interval == 0:
		return true
	}
	return r.Interval < was.Interval || r.Burst > was.Burst || r.Each && !was.Each
}

// Opened returns the ways in which a is wider than was, in a fixed order. implies are the scopes that scopes implied before. An
// access that is equal or narrower opens nothing, and one that can't be compared, such as another condition, counts as wider.
func (a *Access) Opened(was *Access, implies map[string][]string) (what []string) {
	if !a.Exposed {
		return nil
	}
	if !was.Exposed {
		return []string{LetThrough}
	}
	for _, way := range []struct {
		opens bool
		what  string
	}{
		{a.needsFewerScopes(was, implies), FewerScopes},
		{was.Condition != "" && a.Condition != was.Condition, OtherCondition},
		{was.Confirmed && !a.Confirmed, NoConsent},
		{!contains(a.Asked, was.Asked), NotAsked},
		{!contains(a.Fixed, was.Fixed), NotFixed},
		{!contains(a.Hidden, was.Hidden), LessHidden},
		{a.SharedAnswers && !was.SharedAnswers, SharedAnswers},
		{!contains(was.Jobs, a.Jobs), MoreJobs},
		{a.promisesMore(was), PromisesMore},
		{a.Rate.exceeds(was.Rate), HigherRate},
		{!maps.EqualFunc(a.Rest, was.Rest, slices.Equal), OtherSetting},
		{!contains(was.ByDocument.Endpoints, a.ByDocument.Endpoints), NewlyAtEndpoint},
		{!contains(was.ByDocument.Credentials, a.ByDocument.Credentials), OtherCredential},
		{was.ByDocument.Origin != (origin.Origin{}) && a.ByDocument.Origin != (origin.Origin{}) && a.ByDocument.Origin != was.ByDocument.Origin, OtherOrigin},
		{!contains(a.ByDocument.Judged, was.ByDocument.Judged), NotJudged},
		{!contains(was.ByDocument.Slashes, a.ByDocument.Slashes), MoreSlashes},
		{was.ByDocument.Safe && !a.ByDocument.Safe, ChangesData},
	} {
		if way.opens {
			what = append(what, way.what)
		}
	}
	return what
}

// needsFewerScopes reports whether a caller needs fewer scopes at any endpoint than before. At an endpoint that is new for the operation
// it is compared with the scopes at /mcp. Each set of scopes must be as strict as one of those before.
func (a *Access) needsFewerScopes(was *Access, implies map[string][]string) bool {
	for endpoint, sets := range a.Scopes {
		earlier, ok := was.Scopes[endpoint]
		if !ok {
			if earlier, ok = was.Scopes[""]; !ok {
				continue // no token was needed
			}
		}
		if slices.ContainsFunc(sets, func(scopes []string) bool {
			return !slices.ContainsFunc(earlier, func(e []string) bool { return AsStrict(scopes, e, implies) })
		}) {
			return true
		}
	}
	return false
}
