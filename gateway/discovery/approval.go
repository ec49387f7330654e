package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// Accept accepts the service with that API name, which awaits an operator. The name must be that of one service alone: the operator
// has decided on that one.
func (m *Manager) Accept(ctx context.Context, api string) error {
	return m.ask(ctx, func(ctx context.Context) error {
		var found, claiming []*named
		for _, n := range m.names() {
			switch {
			case strings.EqualFold(n.claim.name(), api):
				found = append(found, n)
			case strings.EqualFold(n.claim.first(), api):
				claiming = append(claiming, n)
			}
		}
		waits := func(n *named) bool { return !n.s.approved }
		switch {
		case len(found) == 1 && waits(found[0]):
		case !slices.ContainsFunc(slices.Concat(found, claiming), waits):
			return fmt.Errorf("no service that awaits an operator has the API name %q", api)
		default:
			var names []string
			for _, n := range slices.Concat(found, claiming) {
				names = append(names, fmt.Sprintf("%s as %s", n.claim, n.claim.name()))
			}
			return fmt.Errorf("several services claim the API name %q: accept one by a name of its own: %s", api, text.List(names, maxProblems))
		}
		found[0].s.approved = true
		m.evaluate(ctx, found[0].p)
		m.touch()
		return nil
	})
}

// AcceptLoss removes the services that a provider has lost.
func (m *Manager) AcceptLoss(ctx context.Context, name string) error {
	return m.ask(ctx, func(ctx context.Context) error {
		for _, p := range m.providers {
			if strings.EqualFold(p.d.Name, name) {
				if p.lost() == 0 {
					return fmt.Errorf("the provider %q has lost no services", name)
				}
				p.removeLost()
				m.evaluate(ctx, p)
				m.touch()
				return nil
			}
		}
		return fmt.Errorf("no provider has the name %q", name)
	})
}
