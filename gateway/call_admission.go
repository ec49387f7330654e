package gateway

import (
	"errors"
	"math"
	"net/http"
	"runtime/debug"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// limiters limit the load of a gateway across all its configurations. They are safe for concurrent use.
type limiters struct {
	overload admission.Controller
	// pace makes reading documents, and building what is served from them, yield to calls.
	pace *openapi.Pace
	// maxDocument is the maximum memory of one document while it is read, in bytes, or 0 if it is unlimited.
	maxDocument int64
	// documents is the memory budget of compiled documents.
	documents *admission.DocumentBudget
	// largeTexts holds a token for each large document that is being fetched, read and compiled; nil if memory is
	// unlimited. Its capacity is the number that are worked on at a time (S4), because the texts of waiting documents
	// would take memory meanwhile.
	largeTexts chan struct{}
	// responses is the memory budget of large responses: what calls, lists and documents leave.
	responses *admission.ResponseBudget
}

// smallestDocument is the memory that every compiled document may take: enough for 300 plain tools.
const smallestDocument = 1 << 20

// newLimiters returns the limiters of a gateway. serving reports whether the gateway serves requests.
func newLimiters(serving func() bool) *limiters {
	l := &limiters{responses: admission.NewResponseBudget(0), documents: admission.NewDocumentBudget(0, 0, 0)}
	l.pace = openapi.NewPace(serving, func() bool { return l.overload.InFlight() > 0 })
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		l.maxDocument = limit / 4
		l.documents = admission.NewDocumentBudget(limit/3, limit/4, smallestDocument)
		l.largeTexts = make(chan struct{}, 2)
		l.responses = admission.NewResponseBudget(limit / 4)
	}
	return l
}

// Reading reports whether a document is being read, or its tools are being built. It stays true until the memory that
// this took is released.
func (g *Gateway) Reading() bool { return g.admission.pace.Working(trimAfter) }

// crowded returns the error for a call that can't be admitted, and the reason, or nil. memoryChecked is that of
// [admission.Controller.Check].
func (g *Gateway) crowded(maxCalls int, memoryChecked bool) (*mcp.Error, telemetry.RefusalReason) {
	because := g.admission.overload.Check(maxCalls, memoryChecked)
	if because == "" {
		return nil, ""
	}
	return g.noRoom(because), because
}

// noRoom counts a call that isn't admitted, and returns its error.
func (g *Gateway) noRoom(because telemetry.RefusalReason) *mcp.Error {
	g.metrics.Refused[because].Inc()
	what := "too many calls run"
	if because == telemetry.RefusedMemory {
		what = "there is no room for more calls"
	}
	return mcp.RetryLater(http.StatusServiceUnavailable, time.Second, "%s: come again in 1 second; lists are served", what)
}

// refuseWait counts a request that can't wait for its user because too many do already. The reason is "" if err is
// another error.
func (g *Gateway) refuseWait(err error) (because telemetry.RefusalReason, status int) {
	var full *mcp.ElicitationLimitError
	if !errors.As(err, &full) || full.TooLarge {
		return "", 0
	}
	because, status = telemetry.RefusedWaits, http.StatusServiceUnavailable
	if full.PerCaller {
		because, status = telemetry.RefusedCallerWaits, http.StatusTooManyRequests
	}
	g.metrics.Refused[because].Inc()
	return because, status
}

// unasked converts the error of an elicitation, including [mcp.ErrInputRequired], to the error of the call. Any error
// that is not a *failure is the error of the answer.
func (c *call) unasked(err error) error {
	var full *mcp.ElicitationLimitError
	switch {
	case errors.Is(err, mcp.ErrInputRequired):
		c.done(telemetry.OutcomeAsked, nil)
	case errors.As(err, &full) && full.TooLarge:
		return &failure{telemetry.OutcomeUnanswered, err, tooLargeToWait}
	default:
		if because, _ := c.g.refuseWait(err); because != "" {
			c.turnedAway(telemetry.OutcomeLimited)
		}
	}
	return err
}

// tooLargeToWait is the text for the model if the arguments are too large to be stored while the user is asked.
const tooLargeToWait = "This call has to ask the user something, and its arguments are too large to be kept until there is an answer. Nothing was sent. " +
	"Call again with less in the arguments; if that can't be, tell the user that the call has to be made in another way."

// startRunning counts the call against limits.max_calls. It returns an error if the limit is reached.
func (c *call) startRunning() *mcp.Error {
	if because := c.g.admission.overload.Admit(c.endpoint.maxCalls); because != "" {
		c.turnedAway(telemetry.OutcomeLimited)
		return c.g.noRoom(because)
	}
	c.running = true
	return nil
}

// stopRunning ends the call's count against limits.max_calls as soon as the call has its answer, so that a client that
// reads slowly holds up no other call.
func (c *call) stopRunning() {
	if c.running {
		c.running = false
		c.g.admission.overload.Done()
	}
}
