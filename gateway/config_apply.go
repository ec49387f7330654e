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

// deployment is one configuration on its way to be served: its guard and its sources. It belongs to the goroutine
// of [Gateway.Run].
type deployment struct {
	config    *config.Config
	screening *screening
	lock      *config.Lock // of approved tools; nil: all are
	settings  *guardSettings
	guard     *auth.Guard          // nil: anonymous
	identity  *credential.Identity // nil: no service is told who calls
	sources   []*source
	rates     admission.Rates
	passed    []string // files of directories that are no documents
	loadedAt  time.Time
	// refusedBefore is why the same configuration was refused when it was loaded before, which is in the log; "": it was not.
	refusedBefore string
	turn          int64 // what its sources must have answered before it is served in the place of another

	outbound   *outbound                  // nil: no caller is called
	conditions map[string]*auth.Condition // of rules, by their text
	selectors  *selectorChecks

	stopGuard context.CancelFunc
	waiters   []chan<- error // reloads that wait for it to be served
}

// settled tells whether every source has looked at its document since it was asked to.
func (d *deployment) settled() bool {
	return !slices.ContainsFunc(d.sources, func(s *source) bool { return s.answered < d.turn })
}

func (d *deployment) has(s *source) bool { return slices.Contains(d.sources, s) }

// deploy makes a deployment of a configuration. What did not change since old is taken over: a source with its
// connections and its document, a guard with its keys and its cache. The error tells all that is wrong.
func (g *Gateway) deploy(c *config.Config, old *deployment) (*deployment, error) {
	d := &deployment{config: c, rates: newRates(c, g.o.Local), loadedAt: time.Now(), selectors: newSelectorChecks(c)}
	var errs []error
	var err error
	if d.screening, err = g.newScreening(c); err != nil {
		return nil, err
	}
	if d.identity, err = g.identityOf(c, old); err != nil {
		return nil, err
	}
	limits := c.Limits.OfSources()
	for i, api := range c.APIs {
		wrong := func(key string, err error) error { return c.Wrong(c.KeyOf(i)+"."+key, err) }
		s := old.sourceOf(api, limits, d.identity)
		// What was a document stays one: this may be the moment in which its file is written anew.
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
			// The files may have changed, which is noticed where they are used. What can't be used is told here.
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
	var calling *outbound
	if old != nil {
		calling = old.outbound
	}
	d.outbound = newOutbound(c, calling, g.o)
	if d.conditions, err = conditionsOf(c); err != nil {
		errs = append(errs, err)
	}
	if d.settings, err = guardSettingsOf(c, d.screening.keys); err != nil {
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

// identityOf makes what tells services who calls, or takes over that of the deployment before, with its keys.
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
		return old.identity, nil // it notices by itself when a file changes, and remembers the keys that were there before
	}
	return identity, nil
}

// sourceOf returns the source with the same configuration, the same certificates and the same identity, nil if there is none.
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

// trustsTheSame tells whether the file with the certificates is still what the source has read.
func (s *source) trustsTheSame() bool {
	if s.config.CAFile == "" {
		return true
	}
	pem, err := os.ReadFile(s.config.CAFile.String())
	return err == nil && bytes.Equal(pem, s.pem)
}

// compilesAlike reports whether a document becomes the same with two configurations of its API: the keys that it is compiled by are equal,
// and so are the parameters that credentials and passed headers reserve.
func compilesAlike(a, b config.API) bool {
	return reflect.DeepEqual(a.Compiled(), b.Compiled()) && reflect.DeepEqual(reserved(a), reserved(b))
}

// apis is how many APIs there are when tools are named: those of a directory come and go, and no tool gets or loses a prefix
// for that.
func (d *deployment) apis() int {
	if len(d.config.Directories()) > 0 {
		return max(len(d.sources), 2)
	}
	return len(d.sources)
}

// files returns what the deployment was made of: the configuration's files, and the parts of documents, which become
// documents when they get what makes one.
func (d *deployment) files() []string { return append(d.config.Files(), d.passed...) }

// similar returns a source that has loaded from the same place under the same rules for what may be called, nil if
// there is none.
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
