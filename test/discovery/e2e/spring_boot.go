package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"drawbridge/test/process"
)

// springBoot is a Eureka server at which applications of Spring Boot register. The gateway knows the server alone.
type springBoot struct {
	*eurekaRegistry
	home string
	apps []*process.Child
}

// provider has no line for a service.
func (s *springBoot) provider() string { return fmt.Sprintf("eureka: {url: %q, refresh: 1s}", s.base) }

// start starts an instance of a version of the application below the context path /shop, and returns when the server shows it.
func (s *springBoot) start(ctx context.Context, version int) (*process.Child, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(address)
	app, err := process.Start(ctx, "java", "-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", filepath.Join(s.home, "classes")+":"+filepath.Join(s.home, "lib", "*"), "shop.ShopService",
		"--spring.application.name=orders", "--server.address="+host, "--server.port="+port, "--server.servlet.context-path=/shop", fmt.Sprint("--shop.version=", version),
		"--eureka.client.service-url.defaultZone="+s.base+"/", "--eureka.instance.prefer-ip-address=true", "--eureka.instance.ip-address="+host,
		"--eureka.instance.instance-id="+address, "--server.shutdown=graceful", "--logging.level.root=warn")
	if err != nil {
		return nil, err
	}
	s.apps = append(s.apps, app)
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return app, app.Await(ctx, func(ctx context.Context) error {
		text, err := s.send(ctx, http.MethodGet, "/apps/ORDERS/"+address, media, nil)
		if err == nil && !strings.Contains(string(text), "UP") {
			err = errors.New("the instance is not up")
		}
		return err
	})
}

// end ends an instance as an orchestrator does: it leaves the registry, then the calls that it has end.
func end(app *process.Child) error {
	if err := syscall.Kill(app.PID(), syscall.SIGTERM); err != nil {
		return fmt.Errorf("terminate: %w", err)
	}
	select {
	case <-app.Exited():
		return nil
	case <-time.After(time.Minute):
		return errors.New("an instance did not end within a minute")
	}
}

func (o *options) measureSpringBoot(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "discovery")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := newEurekaRegistry(ctx, o, dir)
	if err != nil {
		return err
	}
	defer r.stop()
	eureka, ok := r.(*eurekaRegistry)
	if !ok {
		return fmt.Errorf("the registry is a %T", r)
	}
	s := &springBoot{eurekaRegistry: eureka, home: filepath.Join(o.programs, "spring_boot")}
	defer func() {
		for _, app := range s.apps {
			_ = kill(app)
		}
	}()
	g, err := start(ctx, o.binary, dir, s)
	if err != nil {
		return err
	}
	defer g.Stop() //nolint:errcheck // it is killed then
	if err := s.rollOut(ctx, g); err != nil {
		return fmt.Errorf("%w\n%s", err, g.Log())
	}
	return nil
}

// mostNew is the most time from the moment that the registry shows the first instance of a version until its new tool can be called.
const mostNew = 5 * time.Second

// rollOut measures a rollout of version 2 under calls: two instances come, then the two of version 1 leave.
func (s *springBoot) rollOut(ctx context.Context, g *gateway) error {
	const listed, added = "shop-orders_listOrders", "shop-orders_listRefunds"
	first, err := s.start(ctx, 1)
	if err != nil {
		return err
	}
	found, err := g.until(ctx, listed, true)
	if err != nil {
		return err
	}
	second, err := s.start(ctx, 1)
	if err != nil {
		return err
	}
	stop := g.load(ctx, listed)
	if _, err := s.start(ctx, 2); err != nil {
		return err
	}
	came, err := g.until(ctx, added, true)
	if err != nil {
		return err
	}
	stopAdded := g.load(ctx, added) // while instances of version 1 are there, which don't have it
	mixed := "no"
	if status := g.status(ctx); strings.Contains(status, `"versions"`) {
		mixed = "yes"
	}
	time.Sleep(5 * time.Second)
	if _, err := s.start(ctx, 2); err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	for _, app := range []*process.Child{first, second} {
		if err := end(app); err != nil {
			return err
		}
		time.Sleep(3 * time.Second)
	}
	addedCalls, addedFailed, addedFirst := stopAdded()
	calls, failed, firstError := stop()
	for _, row := range [][2]string{
		{"found and called without a line for it, after", found.Round(time.Millisecond).String()},
		{"the new tool can be called, after its first instance is shown", came.Round(time.Millisecond).String()},
		{"/apis shows two versions meanwhile", mixed},
		{"calls of a tool of both versions in the rollout", fmt.Sprintf("%d, %d failed", calls, failed)},
		{"calls of the new tool in the rollout", fmt.Sprintf("%d, %d failed", addedCalls, addedFailed)},
	} {
		fmt.Printf("| Spring Boot behind Eureka | %s | %s |\n", row[0], row[1])
	}
	if came > mostNew {
		return fmt.Errorf("expected the new tool within %v", mostNew)
	}
	return errors.Join(firstError, addedFirst)
}
