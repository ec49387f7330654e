package servicecenter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// maxServices is the most microservices that are read: as many as a provider may have services.
const maxServices = 10_000

// recheck is how often the summaries of a microservice's schemas are read, which change with the schemas.
const recheck = time.Minute

// Provider asks a service-center.
type Provider struct {
	d      *config.ServiceCenterDiscovery
	client discovery.Client

	account discovery.Account
	budget  *discovery.Budget // of the reading that is under way
	known   map[string]*kept  // the schemas of microservices, by id
}

// kept is the schemas of a microservice, as last read.
type kept struct {
	schemas []schema
	service microservice // as the registry had it then
	checked time.Time
	problem error // why they could not be read
}

// New returns the provider that asks through a client, which must not follow redirects.
func New(d *config.ServiceCenterDiscovery, client discovery.Client) *Provider {
	p := &Provider{d: d, client: client, account: discovery.Account{Refused: errUnauthorized}, known: map[string]*kept{}}
	if d.Username != "" {
		p.account.Login = p.login
	}
	return p
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	if c, ok := p.client.(interface{ Close() }); ok {
		defer c.Close()
	}
	discovery.Poll(ctx, time.Duration(p.d.Refresh), p.next, update)
}

// next returns the services that the registry has now. Services whose schemas can't be read are reported with the reason.
func (p *Provider) next(ctx context.Context) ([]discovery.Target, error) {
	p.budget = discovery.NewBudget(maxRead)
	listed, err := p.services(ctx)
	if err != nil {
		return nil, err
	}
	listed = slices.DeleteFunc(listed, p.leavesOut)
	var problems []error
	if more := len(listed) - maxServices; more > 0 {
		slices.SortFunc(listed, func(a, b microservice) int { return strings.Compare(a.ID, b.ID) })
		listed = listed[:maxServices]
		problems = append(problems, fmt.Errorf("the registry has %d microservices more than %d; they are left out, so application or environment should select fewer", more, maxServices))
	}
	details, err := p.details(ctx, listed)
	if err != nil {
		return nil, err
	}
	chosen := choose(details)
	contracts := make([]*kept, len(chosen))
	if err := discovery.Each(ctx, len(chosen), func(ctx context.Context, i int) error {
		contracts[i] = p.contracts(ctx, &chosen[i].Service)
		return ctx.Err()
	}); err != nil {
		return nil, err
	}
	current, size := make(map[string]*kept, len(chosen)), 0
	targets := []discovery.Target{}
	for i, d := range chosen {
		k := contracts[i]
		if size += k.size(); size > maxRead { // read at different times
			k = &kept{service: k.service, problem: fmt.Errorf("with them, the schemas of the registry have more than %d bytes together", maxRead)}
		}
		current[d.Service.ID] = k
		if k.problem != nil {
			problems = append(problems, fmt.Errorf("the schemas of %.100q: %w", d.Service.Name, k.problem))
		}
		targets = append(targets, p.targetsOf(d, k)...)
	}
	p.known = current
	tellApart(targets)
	return targets, discovery.JoinProblems(problems)
}

// itself is the name under which the registry has itself.
const itself = "SERVICECENTER"

// leavesOut reports whether a microservice is not one that is looked for.
func (p *Provider) leavesOut(s microservice) bool {
	return s.Name == itself || p.d.Environment != "" && s.Environment != p.d.Environment || p.d.Application != "" && s.Application != p.d.Application ||
		strings.Trim(s.ID, ".") == "" // an id that would be another path
}

// details adds their instances to microservices.
func (p *Provider) details(ctx context.Context, listed []microservice) ([]detail, error) {
	details := make([]detail, len(listed))
	for i := range listed {
		p.restore(&listed[i])
	}
	err := discovery.Each(ctx, len(listed), func(ctx context.Context, i int) error {
		instances, err := p.instances(ctx, listed[i].ID)
		details[i] = detail{listed[i], instances}
		return err
	})
	return details, err
}

// restore gives a microservice the schemas and properties that it had, if it has none now and was not modified: service-center 1.4
// forgets them for a while when its console lists the microservices.
func (p *Provider) restore(s *microservice) {
	k := p.known[s.ID]
	if k != nil && len(s.Schemas) == 0 && len(s.Properties) == 0 && s.Modified == k.service.Modified {
		s.Schemas, s.Properties = k.service.Schemas, k.service.Properties
	}
}

// choose returns of each microservice the newest version that has an instance, or the newest if none has.
func choose(details []detail) []*detail {
	best := map[string]*detail{}
	for i := range details {
		d := &details[i]
		key := d.Service.Environment + "\x00" + d.Service.Application + "\x00" + d.Service.Name
		if other := best[key]; other == nil || d.betterThan(other) {
			best[key] = d
		}
	}
	chosen := slices.Collect(maps.Values(best))
	slices.SortFunc(chosen, func(a, b *detail) int { return strings.Compare(a.Service.ID, b.Service.ID) })
	return chosen
}

func (d *detail) betterThan(other *detail) bool {
	if up, otherUp := d.up(), other.up(); up != otherUp {
		return up
	}
	return compareVersions(d.Service.Version, other.Service.Version) > 0
}

func (d *detail) up() bool {
	return slices.ContainsFunc(d.Instances, func(i instance) bool { return i.Status == statusUp })
}

// compareVersions compares versions such as 1.10.2 by their numbers.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		if c := partOf(as, i) - partOf(bs, i); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

func partOf(parts []string, i int) (n int) {
	if i < len(parts) {
		_, _ = fmt.Sscanf(parts[i], "%d", &n) // what is no number counts as 0
	}
	return n
}

// contracts returns the schemas of a microservice: those that are known, unless the registry says that they have changed.
func (p *Provider) contracts(ctx context.Context, s *microservice) *kept {
	k := p.known[s.ID]
	if k != nil && k.problem == nil && k.service.Modified == s.Modified && slices.Equal(k.service.Schemas, s.Schemas) {
		if time.Since(k.checked) < recheck {
			return k
		}
		if summaries, err := p.schemas(ctx, s.ID, false); err != nil || same(summaries, k.schemas) {
			return &kept{schemas: k.schemas, service: *s, checked: time.Now()} // without an answer, what is known stays
		}
	}
	schemas, err := p.schemas(ctx, s.ID, true)
	if err == nil && len(schemas) == 0 && len(s.Schemas) > 0 {
		err = fmt.Errorf("expected %d, got none", len(s.Schemas))
	}
	if err != nil && k != nil {
		return &kept{schemas: k.schemas, service: k.service, problem: err}
	}
	for i := range schemas {
		schemas[i].path = basePath(schemas[i].Text) // once: it takes long for large texts
	}
	return &kept{schemas: schemas, service: *s, checked: time.Now(), problem: err}
}

// size returns the bytes of the texts.
func (k *kept) size() (n int) {
	for i := range k.schemas {
		n += len(k.schemas[i].Text)
	}
	return n
}

// same reports whether two lists have the same schemas with the same summaries.
func same(a, b []schema) bool {
	summaries := func(list []schema) map[string]string {
		all := make(map[string]string, len(list))
		for _, s := range list {
			all[s.ID] = s.Summary
		}
		return all
	}
	return maps.Equal(summaries(a), summaries(b))
}
