package gateway

import (
	"math"
	"runtime/debug"

	"drawbridge/gateway/admission"
	"drawbridge/openapi"
)

// limiters limit the load of a gateway across all its configurations. They are safe for concurrent use.
type limiters struct {
	overload admission.LoadShedder
	calls    *admission.Calls // admits calls
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
