package gateway

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/source"
	"drawbridge/gateway/task"
)

// deployment is a configuration with the sources and the token guard made from it, from reading until it is replaced. A
// generation is built from it. It belongs to the goroutine of [Gateway.Run].
type deployment struct {
	config   *config.Config
	inUse    *configInUse
	lock     *config.Lock         // approved tools; nil if approval is off
	settings *guardSettings       // settings that guard was made from
	guard    *auth.Guard          // checks tokens; nil if callers are anonymous
	identity *credential.Identity // signs caller identities for services; nil if no API asks for them
	apis     *source.Set          // sources of the APIs
	rates    admission.Rates
	loadedAt time.Time
	// refusedBefore is the logged reason why the same configuration was rejected before; "" if it was not.
	refusedBefore string
	turn          int64 // number of the reload that its sources must have answered before it replaces another deployment

	outbound   *task.CallerWebhooks       // sends webhooks to callers; nil if they are off
	conditions map[string]*auth.Condition // compiled conditions of rules, by their text
	programs   plan.Programs              // compiled expressions of rules

	stopGuard context.CancelFunc // stops the goroutine of guard; nil before it was started
	waiters   []chan<- error     // receive the outcome of the reload
}

// deploy makes a deployment of a configuration. It takes over everything that did not change since old: a source with
// its connections and its document, a guard with its keys and its cache. The error lists all problems.
func (g *Gateway) deploy(c *config.Config, old *deployment) (*deployment, error) {
	d := &deployment{config: c, rates: newRates(c, g.o.Local), loadedAt: time.Now()}
	var errs []error
	var err error
	if d.inUse, err = g.newConfigInUse(c); err != nil {
		return nil, err
	}
	if d.identity, err = g.identityOf(c, old); err != nil {
		return nil, err
	}
	var apis *source.Set
	if old != nil {
		apis = old.apis
	}
	if d.apis, err = source.NewSet(g.sourceDeps, c, apis, d.identity); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, wrongAnswerHeaders(c)...)
	if d.lock, err = g.lockOf(c); err != nil {
		errs = append(errs, err)
	}
	var previous *task.CallerWebhooks
	if old != nil {
		previous = old.outbound
	}
	if !g.o.Local {
		d.outbound = task.NewCallerWebhooks(c, previous, g.o.TracerProvider, g.o.Version)
	}
	if d.programs, err = plan.CompilePrograms(c); err != nil {
		errs = append(errs, err)
	}
	if d.conditions, err = conditionsOf(c); err != nil {
		errs = append(errs, err)
	}
	if d.settings, err = guardSettingsOf(c, d.inUse.keys); err != nil {
		errs = append(errs, err)
	} else if d.settings != nil && !g.o.Local {
		if old != nil && old.settings.equal(d.settings) {
			d.guard, d.stopGuard = old.guard, old.stopGuard
		} else if d.guard, err = g.newGuard(c, d.settings, old); err != nil {
			errs = append(errs, err)
		}
	}
	return d, errors.Join(errs...)
}

// identityOf returns the signer of caller identities for services. It keeps the one of the old deployment, with its
// keys, if nothing changed.
func (g *Gateway) identityOf(c *config.Config, old *deployment) (*credential.Identity, error) {
	if c.Identity == nil {
		return nil, nil //nolint:nilnil // none is configured
	}
	o := credential.IdentityOptions{Issuer: strings.TrimSuffix(c.Resource(), "/mcp"), Lifetime: time.Duration(c.Identity.Lifetime), Now: g.o.now}
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
	if old != nil && old.identity != nil && c.Resource() == old.config.Resource() && reflect.DeepEqual(old.config.Identity, c.Identity) {
		return old.identity, nil // it notices file changes by itself, and remembers its former keys
	}
	return identity, nil
}

// apiCount returns the number of APIs for naming tools. It is at least 2 if a directory is configured: its documents come
// and go, and no tool may gain or lose a prefix for that.
func (d *deployment) apiCount() int {
	if len(d.config.Directories()) > 0 {
		return max(len(d.apis.Sources), 2)
	}
	return len(d.apis.Sources)
}

// files returns the files that the deployment depends on: those of the configuration, and fragments, which become
// documents when they get the keys of one.
func (d *deployment) files() []string { return append(d.config.Files(), d.apis.Fragments...) }

// wrongAnswerHeaders returns the problems of the response headers that APIs pass on.
func wrongAnswerHeaders(c *config.Config) (problems []error) {
	for i, api := range c.APIs {
		for _, err := range render.CheckHeaderNames(api.AnswerHeaders) {
			problems = append(problems, c.Wrong(c.KeyOf(i)+".answer_headers", err))
		}
	}
	return problems
}

// newSourceDeps returns what all sources share.
func (g *Gateway) newSourceDeps() *source.Deps {
	return &source.Deps{
		Version: g.o.Version, Logger: g.log, Metrics: g.metrics, TracerProvider: g.o.TracerProvider, Now: g.o.now, Panicked: g.panicked, Keep: g.Keep,
		Pace: g.admission.pace, MaxDocument: g.admission.maxDocument, Documents: g.admission.documents, LargeTexts: g.admission.largeTexts,
		Store: g.store, Updates: g.updates, SharedCache: g.shared.answers != nil, Advise: g.o.Advise, Transport: g.o.service,
	}
}
