package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/console/signin"
	"drawbridge/gateway/history"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/readiness"
)

// Options are what the console shows and does. All functions and interfaces must be safe for concurrent use.
type Options struct {
	// Config returns the configuration in use.
	Config func() *config.Config
	// Gateway is the state of the gateway and what operators can change.
	Gateway Gateway
	// Tools returns the tools that are served now; nil before the first API is served.
	Tools func() ToolSet
	// Access examines tokens.
	Access Tokens
	// History are the calls of the last hour.
	History *history.Recorder
	// Tokens returns the tokens and the bytes of the texts of all results so far, of which the tokens are estimated.
	Tokens func() (tokens, bytes int64)
	// Trials calls tools for operators.
	Trials Trials
	// Clean removes invisible characters from a page: its texts come from documents (S8). Nil leaves pages unchanged.
	Clean func([]byte) []byte
	// Provider returns the client for requests to an OpenID provider, with SSRF protection and a limit on responses.
	Provider func(*config.ConsoleOIDC) (*http.Client, error)
	// Address returns the address of the client of a request, zero if it has none, and whether other clients certainly have other
	// addresses.
	Address func(*http.Request) (a netip.Addr, certain bool)
	Log     *slog.Logger
	// Version is that of the program.
	Version string
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Gateway is the state of the gateway, and its changes by operators.
type Gateway interface {
	// Status returns the state of the gateway and of each API.
	Status() admin.Status
	// Report returns the load report of an API; false if there is no such API.
	Report(api string) (admin.Report, bool)
	// DocumentText returns the lines around a position in a file of an API's document, from the bytes that are in use, and
	// of a long line the part around the column. The error says why they can't be shown.
	DocumentText(ctx context.Context, api, file string, line, column int) (*Excerpt, error)
	// Readiness reads the document of an API again and scores its tools, or returns a score of the last minute. It must not be changed.
	Readiness(ctx context.Context, api string) (*readiness.Report, error)
	// Reload reads the configuration and all documents again, and returns when the result is in use.
	Reload(ctx context.Context) error
	// Accept puts the held document of an API into use, or serves a held service. digest is that of the document; "" for
	// a service.
	Accept(ctx context.Context, api, digest string) error
	// AcceptLoss removes the services that a provider has lost.
	AcceptLoss(ctx context.Context, provider string) error
}

// Console is the handler of the console. Create it with [New]. It is safe for concurrent use.
type Console struct {
	o        Options
	sessions *signin.Sessions
	provider *signin.OIDC
	failures *signin.Failures // with tokens
	refusals *signin.Failures // of responses of the OpenID provider
	handler  http.Handler
}

// New returns the console. While the configuration in use turns it off, it answers 404.
func New(o Options) *Console {
	if o.Now == nil {
		o.Now = time.Now
	}
	sealer, err := mcp.NewSealer(nil, "drawbridge console sign-in")
	if err != nil {
		panic(err) // its own key is long enough
	}
	c := &Console{o: o, sessions: signin.NewSessions(o.Now), provider: signin.NewOIDC(o.Provider, sealer, o.Now), failures: signin.NewFailures(o.Now), refusals: signin.NewFailures(o.Now)}
	c.handler = c.middleware(c.routes())
	return c
}

// ServeHTTP implements [http.Handler] for the paths /console and below.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// On reports whether the console is served at present.
func (c *Console) On() bool { return c.o.Config().Admin.ConsoleOn() }

// route is a path of the console, and the role that it requires.
type route struct {
	pattern string // as of [http.ServeMux]
	role    signin.Role
	serve   http.HandlerFunc
}

// routes returns all paths. The role None is for those that serve people who are not signed in.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	for _, route := range []route{
		{"GET /console", signin.View, c.overview},
		{"GET /console/apis", signin.View, c.apis},
		{"GET /console/apis/{name}", signin.View, c.api},
		{"GET /console/apis/{name}/document", signin.View, c.document},
		{"GET /console/apis/{name}/readiness", signin.View, c.readiness},
		{"POST /console/apis/{name}/accept", signin.Operate, c.accept},
		{"POST /console/discovery/{name}/accept", signin.Operate, c.acceptLoss},
		{"POST /console/reload", signin.Operate, c.reload},
		{"GET /console/drift", signin.View, c.drift},
		{"GET /console/tools", signin.View, c.tools},
		{"GET /console/tools/{name}", signin.View, c.tool},
		{"GET /console/live", signin.View, c.live},
		{"GET /console/access", signin.View, c.access},
		{"POST /console/access", signin.View, c.explainToken},
		{"GET /console/signin", signin.None, c.signInPage},
		{"POST /console/signin", signin.None, c.signIn},
		{"GET /console/signin/oidc", signin.None, c.signInAtProvider},
		{"GET " + signin.CallbackPath, signin.None, c.signInCallback},
		{"POST /console/signout", signin.View, c.signOut},
		{"GET /console/try", signin.Operate, c.tryIndex},
		{"GET /console/try/{tool}", signin.Operate, c.tryPage},
		{"POST /console/try/{tool}", signin.Operate, c.try},
		{"GET /console/connect", signin.View, c.connect},
		{"GET /console/connect/{guide}", signin.View, c.guide},
		{"GET /console/static/{file}", signin.None, serveStatic},
	} {
		mux.Handle(route.pattern, c.authorize(route.role, route.serve))
	}
	mux.HandleFunc("/console/", func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, http.StatusNotFound, "There is no such page.")
	})
	return mux
}
