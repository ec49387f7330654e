package gateway

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
)

// deployment is one configuration on its way to be served: its guard and its sources. It belongs to the goroutine
// of [Gateway.Run].
type deployment struct {
	config   *config.Config
	settings *guardSettings
	guard    *auth.Guard // nil: anonymous
	sources  []*source
	passed   []string // files of directories that are no documents
	loadedAt time.Time
	turn     int64 // what its sources must have answered before it is served in the place of another

	conditions map[string]*auth.Condition // of rules, by their text

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
	d := &deployment{config: c, loadedAt: time.Now()}
	var errs []error
	for _, api := range c.APIs {
		s := old.sourceOf(api, c.Limits)
		// What was a document stays one: this may be the moment in which its file is written anew.
		if (s == nil || s.loaded == nil) && isFragment(api) {
			d.passed = append(d.passed, api.Spec.String())
			continue
		}
		if s == nil {
			var err error
			if s, err = g.newSource(api, c.Limits); err != nil {
				errs = append(errs, err)
				continue
			}
			if err := s.adopt(old.similar(api, c.Limits)); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		d.sources = append(d.sources, s)
	}
	var err error
	if d.conditions, err = conditionsOf(c); err != nil {
		errs = append(errs, err)
	}
	if d.settings, err = guardSettingsOf(c); err != nil {
		errs = append(errs, err)
	} else if d.settings != nil {
		if old != nil && old.settings.equal(d.settings) {
			d.guard, d.stopGuard = old.guard, old.stopGuard
		} else if d.guard, err = g.newGuard(c, d.settings); err != nil {
			errs = append(errs, err)
		}
	}
	return d, errors.Join(errs...)
}

// sourceOf returns the source with the same configuration and the same certificates, nil if there is none.
func (d *deployment) sourceOf(api config.API, limits config.Limits) *source {
	if d == nil {
		return nil
	}
	for _, s := range d.sources {
		if reflect.DeepEqual(s.config, api) && reflect.DeepEqual(s.limits, limits) && s.trustsTheSame() {
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

// compiledBy returns the configuration without what only calls and the list depend on.
func compiledBy(c config.API) config.API {
	sent := reserved(c.Credential)
	c.Credential = nil
	if len(sent) > 0 {
		c.Credential = &config.Credential{In: config.KeyLocation(sent[0].In), Name: sent[0].Name}
	}
	c.Name, c.Refresh, c.Tools, c.Timeout, c.MaxAnswer, c.CAFile, c.HTML = "", 0, config.APITools{}, 0, 0, "", ""
	c.SpecCredential, c.SpecTimeout, c.AllowAddresses = nil, 0, nil
	return c
}

// apis is how many APIs there are when tools are named: those of a directory come and go, and no tool changes its name
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

// similar returns what a source has loaded from the same place under the same rules for what may be called, nil if
// there is none.
func (d *deployment) similar(api config.API, limits config.Limits) *loaded {
	if d == nil {
		return nil
	}
	for _, s := range d.sources {
		if reflect.DeepEqual(compiledBy(s.config), compiledBy(api)) && s.limits.MaxSchema == limits.MaxSchema {
			return s.loaded
		}
	}
	return nil
}
