package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// kinds are the registries by their names, in order.
var kinds = []kind{
	{"file", newFileRegistry},
	{"http", newHTTPRegistry},
	{"consul", newConsulRegistry},
	{"kubernetes", newKubernetesRegistry},
	{"eureka", newEurekaRegistry},
	{"nacos", newNacosRegistry},
	{"service_center", newServiceCenterRegistry},
	{"api_catalog", newCatalogRegistry},
	{"dns", newDNSRegistry},
	{"spring_boot", nil},
}

// kind is a kind of registry. start starts one, which keeps its files in a directory; nil if it is measured in a way of its own.
type kind struct {
	name  string
	start func(ctx context.Context, o *options, dir string) (registry, error)
}

// registry has services and shows them.
type registry interface {
	// provider returns the provider of the configuration: its key and settings.
	provider() string
	// set adds or replaces services; nil removes one. It returns when the registry shows them.
	set(ctx context.Context, services map[string]*service) error
	// down ends the registry without warning, and up brings it back with the services that it had.
	down() error
	up(ctx context.Context) error
	// stop ends the registry for good.
	stop()
}

// unlocated is a registry that does not say where documents are, so that none moves.
type unlocated interface{ unlocated() }

type options struct {
	binary               string
	programs             string
	address              string
	changes              int
	outage               time.Duration
	services, operations int
}

func main() {
	var o options
	var names string
	flag.StringVar(&o.binary, "drawbridge", "bin/drawbridge", "the gateway's program")
	flag.StringVar(&o.programs, "programs", "out/registries", "the folder of the registries' programs")
	flag.StringVar(&names, "registries", "file,http", "the registries: "+strings.Join(kindNames(), ","))
	flag.StringVar(&o.address, "address", "127.0.0.1", "the IP address of the services")
	flag.IntVar(&o.changes, "changes", 30, "services that come and go, one after the other")
	flag.DurationVar(&o.outage, "outage", 60*time.Second, "how long the registry is away")
	flag.IntVar(&o.services, "services", 500, "services at once")
	flag.IntVar(&o.operations, "operations", 20, "operations of each of them")
	flag.Parse()
	failed := false
	for name := range strings.SplitSeq(names, ",") {
		if err := o.run(context.Background(), name); err != nil {
			fmt.Printf("%s: %v\n", name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func kindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

func (o *options) run(ctx context.Context, name string) error {
	for _, k := range kinds {
		switch {
		case k.name != name:
		case k.start == nil:
			return o.measureSpringBoot(ctx)
		default:
			return o.measure(ctx, k)
		}
	}
	return fmt.Errorf("no registry has this name; there are %s", strings.Join(kindNames(), ", "))
}

func (o *options) measure(ctx context.Context, k kind) error {
	dir, err := os.MkdirTemp("", "discovery")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := k.start(ctx, o, dir)
	if err != nil {
		return err
	}
	defer r.stop()
	g, err := start(ctx, o.binary, dir, r)
	if err != nil {
		return err
	}
	defer g.Stop() //nolint:errcheck // it is killed then
	w := &world{options: o, name: k.name, registry: r, gateway: g}
	if err := errors.Join(w.followed(ctx), w.changed(ctx), w.away(ctx), w.moves(ctx), w.many(ctx)); err != nil {
		return fmt.Errorf("%w\n%s", err, g.Log())
	}
	return nil
}
