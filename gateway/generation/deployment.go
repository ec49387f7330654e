package generation

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/authguard"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/source"
	"drawbridge/gateway/task"
	"drawbridge/openapi/arazzo"
)

// Deployment is a configuration with the sources and the token guard made from it, from reading until it is replaced. It
// belongs to the goroutine that decides what is served.
type Deployment struct {
	Config   *config.Config
	Settings *RequestSettings
	Guard    *auth.Guard          // checks tokens; nil if callers are anonymous
	Identity *credential.Identity // signs caller identities for services; nil if no API asks for them
	APIs     *source.Set          // sources of the APIs
	LoadedAt time.Time
	// CallerWebhooks sends webhooks to callers; nil if they are off.
	CallerWebhooks *task.CallerWebhooks

	lock          *config.Lock        // approved tools; nil if approval is off
	approvedNames catalog.Published   // the names of tools.lock
	guardSettings *authguard.Settings // settings that Guard was made from
	rates         admission.RequestRateLimits
	conditions    map[string]*auth.Condition // compiled conditions of rules, by their text
	programs      plan.Programs              // compiled expressions of rules
	descriptions  []*arazzo.Description      // of workflows
}

// Deployer makes deployments.
type Deployer struct {
	// Local makes deployments for the user that runs the program: without tokens, rate limits and webhooks.
	Local bool
	// Unlocked approves all tools, whatever tools.lock says.
	Unlocked bool
	// SealKeys returns the keys of a configuration that seal handles.
	SealKeys func(*config.Config) ([][]byte, error)
	// NewTable returns a table with the screening of a configuration and no endpoints.
	NewTable       func(*config.Config) (*endpoint.Table, error)
	Sources        *source.Deps
	Guards         *authguard.Builder
	TracerProvider trace.TracerProvider // nil if tracing is off
	Version        string               // of the program
	Now            func() time.Time     // clock for the keys of identities; time.Now if nil
}

// Deploy makes a deployment of a configuration. It takes over everything that did not change since old: a source with
// its connections and its document, a guard with its keys and its cache. old is nil at the start. The error lists all
// problems.
func (p *Deployer) Deploy(c *config.Config, old *Deployment) (*Deployment, error) {
	d := &Deployment{Config: c, LoadedAt: time.Now()}
	if !p.Local {
		d.rates = admission.NewRequestRateLimits(c)
	}
	before := old
	if before == nil {
		before = &Deployment{}
	}
	var err error
	if d.Settings, err = p.newRequestSettings(c); err != nil {
		return nil, err
	}
	if d.Identity, err = p.identityOf(c, before); err != nil {
		return nil, err
	}
	var errs []error
	if d.APIs, err = source.NewSet(p.Sources, c, before.APIs, d.Identity); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, wrongAnswerHeaders(c)...)
	if d.lock, err = p.lockOf(c); err != nil {
		errs = append(errs, err)
	}
	d.approvedNames = approvedNames(c)
	if !p.Local {
		d.CallerWebhooks = task.NewCallerWebhooks(c, before.CallerWebhooks, p.TracerProvider, p.Version)
	}
	if d.programs, err = plan.CompilePrograms(c); err != nil {
		errs = append(errs, err)
	}
	if d.conditions, err = plan.CompileConditions(c); err != nil {
		errs = append(errs, err)
	}
	if d.descriptions, err = readDescriptions(c); err != nil {
		errs = append(errs, err)
	}
	if err = p.setGuard(d, before); err != nil {
		errs = append(errs, err)
	}
	return d, errors.Join(errs...)
}

// setGuard sets the guard of a deployment: the one of the deployment before it if nothing changed.
func (p *Deployer) setGuard(d, before *Deployment) (err error) {
	if d.guardSettings, err = authguard.SettingsOf(d.Config, d.Settings.Keys); err != nil || d.guardSettings == nil || p.Local {
		return err
	}
	if before.guardSettings.Equal(d.guardSettings) {
		d.Guard = before.Guard
		return nil
	}
	d.Guard, err = p.Guards.Build(d.Config, d.guardSettings, authguard.Previous{Guard: before.Guard, Settings: before.guardSettings})
	return err
}

// identityOf returns the signer of caller identities for services. It keeps the one of the old deployment, with its
// keys, if nothing changed.
func (p *Deployer) identityOf(c *config.Config, old *Deployment) (*credential.Identity, error) {
	if c.Identity == nil {
		return nil, nil //nolint:nilnil // none is configured
	}
	o := credential.IdentityOptions{Issuer: strings.TrimSuffix(c.Resource(), "/mcp"), Lifetime: time.Duration(c.Identity.Lifetime), Now: p.Now}
	for _, file := range c.Identity.KeyFiles {
		o.Files = append(o.Files, file.String())
	}
	identity, err := credential.NewIdentity(o)
	if err != nil {
		var problems []error
		for _, one := range config.SplitErrors(err) {
			problems = append(problems, c.Wrong("identity", errors.New(strings.TrimPrefix(one.Error(), "credential: "))))
		}
		return nil, errors.Join(problems...)
	}
	if old.Identity != nil && c.Resource() == old.Config.Resource() && reflect.DeepEqual(old.Config.Identity, c.Identity) {
		return old.Identity, nil // it notices file changes by itself, and remembers its former keys
	}
	return identity, nil
}

// apiCount returns the number of APIs for naming tools. It is at least 2 if a directory is configured: its documents come
// and go, and no tool may gain or lose a prefix for that.
func (d *Deployment) apiCount() int {
	if len(d.Config.Directories())+len(d.Config.Discovery) > 0 {
		return max(len(d.APIs.Sources), 2)
	}
	return len(d.APIs.Sources)
}

// keepsNames reports whether the names of tools depend on those that were published earlier.
func (d *Deployment) keepsNames() bool { return d.Config.Tools.Names == config.NamesShort }

// Tried reports whether every source has tried to load its document.
func (d *Deployment) Tried() bool {
	return !slices.ContainsFunc(d.APIs.Sources, func(s *source.Source) bool { return !s.Tried })
}

// Loaded reports whether a source has a document to serve.
func (d *Deployment) Loaded() bool {
	return slices.ContainsFunc(d.APIs.Sources, func(s *source.Source) bool { return s.Document != nil })
}

// Files returns the files that the deployment depends on: those of the configuration, and fragments, which become
// documents when they get the keys of one.
func (d *Deployment) Files() []string { return append(d.Config.Files(), d.APIs.Fragments...) }

// wrongAnswerHeaders returns the problems of the response headers that APIs pass on.
func wrongAnswerHeaders(c *config.Config) (problems []error) {
	for i, api := range c.APIs {
		for _, err := range render.CheckHeaderNames(api.AnswerHeaders) {
			problems = append(problems, c.Wrong(c.KeyOf(i)+".answer_headers", err))
		}
	}
	return problems
}
