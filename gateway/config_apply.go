package gateway

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admission"
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
	sources  []*source            // one per API
	rates    admission.Rates
	passed   []string // files of configured directories that are fragments, not documents
	loadedAt time.Time
	// refusedBefore is the logged reason why the same configuration was rejected before; "" if it was not.
	refusedBefore string
	turn          int64 // number of the reload that its sources must have answered before it replaces another deployment

	outbound   *outbound                  // sends webhooks to callers; nil if they are off
	conditions map[string]*auth.Condition // compiled conditions of rules, by their text
	selectors  *selectorChecks

	stopGuard context.CancelFunc // stops the goroutine of guard; nil before it was started
	waiters   []chan<- error     // receive the outcome of the reload
}

// settled reports whether every source has tried to load its document since the reload asked it to.
func (d *deployment) settled() bool {
	return !slices.ContainsFunc(d.sources, func(s *source) bool { return s.answered < d.turn })
}

func (d *deployment) has(s *source) bool { return slices.Contains(d.sources, s) }

// deploy makes a deployment of a configuration. It takes over everything that did not change since old: a source with
// its connections and its document, a guard with its keys and its cache. The error lists all problems.
func (g *Gateway) deploy(c *config.Config, old *deployment) (*deployment, error) {
	d := &deployment{config: c, rates: newRates(c, g.o.Local), loadedAt: time.Now(), selectors: newSelectorChecks(c)}
	var errs []error
	var err error
	if d.inUse, err = g.newConfigInUse(c); err != nil {
		return nil, err
	}
	if d.identity, err = g.identityOf(c, old); err != nil {
		return nil, err
	}
	limits := c.Limits.OfSources()
	for i, api := range c.APIs {
		wrong := func(key string, err error) error { return c.Wrong(c.KeyOf(i)+"."+key, err) }
		s := old.sourceOf(api, limits, d.identity)
		// A document stays one even if it looks like a fragment now: its file may be half written at this moment.
		if (s == nil || s.loaded == nil) && isFragment(api) {
			d.passed = append(d.passed, api.Spec.String())
			continue
		}
		if s == nil {
			if s, err = g.newSource(api, limits, d.identity, wrong); err != nil {
				errs = append(errs, err)
				continue
			}
			s.restricted = d.selectors.restrict()
			s.adopt(old.similar(api, limits))
		} else if readsFiles(api) {
			// Changed files are noticed where they are used. This call only validates them.
			if _, err := g.newAttached(api, limits, d.identity, wrong); err != nil {
				errs = append(errs, err)
			}
		}
		d.sources = append(d.sources, s)
		d.selectors.entries[s] = c.KeyOf(i)
	}
	g.assignStore(d)
	if d.lock, err = g.lockOf(c); err != nil {
		errs = append(errs, err)
	}
	var previous *outbound
	if old != nil {
		previous = old.outbound
	}
	d.outbound = newOutbound(c, previous, g.o)
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
		for _, one := range single(err) {
			problems = append(problems, c.Wrong("identity", errors.New(strings.TrimPrefix(one.Error(), "credential: "))))
		}
		return nil, errors.Join(problems...)
	}
	if old != nil && old.identity != nil && c.Resource() == old.config.Resource() && reflect.DeepEqual(old.config.Identity, c.Identity) {
		return old.identity, nil // it notices file changes by itself, and remembers its former keys
	}
	return identity, nil
}

// sourceOf returns the source with the same configuration, certificates and identity; nil if there is none.
func (d *deployment) sourceOf(api config.API, limits config.Limits, identity *credential.Identity) *source {
	if d == nil {
		return nil
	}
	for _, s := range d.sources {
		if reflect.DeepEqual(s.config, api) && reflect.DeepEqual(s.limits, limits) && s.trustsTheSame() &&
			(api.Identity == nil || s.identity == identity) {
			return s
		}
	}
	return nil
}

// trustsTheSame reports whether the file with the trusted certificates is unchanged since the source read it.
func (s *source) trustsTheSame() bool {
	if s.config.CAFile == "" {
		return true
	}
	pem, err := os.ReadFile(s.config.CAFile.String())
	return err == nil && bytes.Equal(pem, s.pem)
}

// compilesAlike reports whether two configurations of an API compile a document to the same result: their compilation
// keys are equal, and so are the parameters that credentials and passed headers reserve.
func compilesAlike(a, b config.API) bool {
	return reflect.DeepEqual(a.Compiled(), b.Compiled()) && reflect.DeepEqual(reserved(a), reserved(b))
}

// apis returns the number of APIs for naming tools. It is at least 2 if a directory is configured: its documents come
// and go, and no tool may gain or lose a prefix for that.
func (d *deployment) apis() int {
	if len(d.config.Directories()) > 0 {
		return max(len(d.sources), 2)
	}
	return len(d.sources)
}

// files returns the files that the deployment depends on: those of the configuration, and fragments, which become
// documents when they get the keys of one.
func (d *deployment) files() []string { return append(d.config.Files(), d.passed...) }

// similar returns a source that reads the same location and compiles it under the same rules and limits; nil if there
// is none.
func (d *deployment) similar(api config.API, limits config.Limits) *source {
	if d == nil {
		return nil
	}
	for _, s := range d.sources {
		if compilesAlike(s.config, api) && reflect.DeepEqual(s.limits.Compiled(), limits.Compiled()) {
			return s
		}
	}
	return nil
}
