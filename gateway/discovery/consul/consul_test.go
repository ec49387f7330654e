package consul

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/config"
)

// settings returns the configuration of a provider.
func settings(t *testing.T) *config.ConsulDiscovery {
	t.Helper()
	address, err := config.ParseURL("http://127.0.0.1:8500")
	if err != nil {
		t.Fatal(err)
	}
	return &config.ConsulDiscovery{Address: address, Token: config.NewSecret("s3cret"), Wait: config.Duration(5 * time.Minute)}
}

// Services that come, move, fail and go are followed within the two seconds that they may take.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent()
		a.set("orders", instance("o1", "10.0.0.1", 80), instance("o2", "", 81))
		r := started(t, New(settings(t), direct{a}))
		await := func(want string) {
			t.Helper()
			time.Sleep(2 * time.Second)
			if got, err := r.last(); got != want {
				t.Fatalf("got %q (%v), want %q", got, err, want)
			}
		}
		await("orders[10.0.0.1:80 10.9.9.9:81]")
		a.set("billing", instance("b1", "fd00::1", 80))
		await("billing[[fd00::1]:80] orders[10.0.0.1:80 10.9.9.9:81]")
		a.set("billing", instance("b1", "10.0.0.2", 90))
		await("billing[10.0.0.2:90] orders[10.0.0.1:80 10.9.9.9:81]")
		failing := instance("o1", "10.0.0.1", 80)
		failing.Checks[1].Status = "warning"
		a.set("orders", failing, instance("o2", "", 81))
		await("billing[10.0.0.2:90] orders[10.9.9.9:81]")
		a.set("orders", failing)
		await("billing[10.0.0.2:90] orders[]") // what is known of it stays
		a.set("billing")
		await("orders[]")
		a.set("orders", instance("o1", "10.0.0.1", 80))
		await("orders[10.0.0.1:80]")
	})
}

// While nothing changes, few queries are sent, although the index of all services is that of one that changes all the time.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent()
		a.set("orders", instance("o1", "10.0.0.1", 80))
		r := started(t, New(settings(t), direct{a}))
		time.Sleep(time.Hour)
		if n, _ := a.load(); n > 30 {
			t.Errorf("%d queries in an hour", n)
		}
		for range 1000 {
			a.change(func() {})
			time.Sleep(10 * time.Millisecond)
		}
		if n, _ := a.load(); n > 100 {
			t.Errorf("%d queries for 1000 changes in ten seconds", n)
		}
		if got, _ := r.last(); got != "orders[10.0.0.1:80]" {
			t.Error(got)
		}
	})
}

// An agent that is away is reported, with the last services in use, and is back within five seconds. Its index may then be lower.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent()
		for i := range 20 {
			a.set(fmt.Sprint("s", i), instance("i", "10.0.0.1", 80))
		}
		r := started(t, New(settings(t), direct{a}))
		time.Sleep(2 * time.Second)
		a.change(func() { a.down = true })
		before, _ := a.load()
		time.Sleep(time.Minute)
		if got, err := r.last(); got != "the lasterror" || !strings.Contains(err.Error(), "http://127.0.0.1:8500/v1/catalog/services: expected status 200, got 500") {
			t.Errorf("%q %v", got, err)
		}
		if n, _ := a.load(); n-before > 300 {
			t.Errorf("%d queries in a minute", n-before)
		}
		a.change(func() {
			a.down, a.index = false, 2
			a.services = map[string][]entry{"s1": {instance("i", "10.0.0.2", 80)}}
		})
		time.Sleep(5 * time.Second)
		if got, err := r.last(); got != "s1[10.0.0.2:80]" || err != nil {
			t.Errorf("%q %v", got, err)
		}
		a.change(func() { // an index that goes back while a query waits
			a.index = 1
			a.services["s1"][0].Service.Port = 81
		})
		time.Sleep(6 * time.Minute)
		if got, err := r.last(); got != "s1[10.0.0.2:81]" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	})
}

// A server that has just started knows its leader before its catalog: services are not lost for that, whether the gateway has
// noticed the restart or not.
func TestStart(t *testing.T) {
	for _, noticed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a := newAgent()
			a.set("s1", instance("i", "10.0.0.1", 80))
			r := started(t, New(settings(t), direct{a}))
			time.Sleep(2 * time.Second)
			if noticed {
				a.change(func() { a.down = true })
				time.Sleep(time.Minute)
			}
			a.change(func() { a.down, a.starting = false, true })
			for range 100 {
				time.Sleep(100 * time.Millisecond)
				if got, _ := r.last(); !strings.HasPrefix(got, "s1[10.0.0.1:80]") && !strings.HasPrefix(got, "the last") {
					t.Fatalf("%q", got)
				}
			}
			a.change(func() { a.starting = false })
			time.Sleep(5 * time.Second)
			if got, err := r.last(); got != "s1[10.0.0.1:80]" || err != nil {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

// Services are reported once all of them have been read. One that can't be read at all does not keep the others back.
func TestUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent()
		a.set("orders", instance("o1", "10.0.0.1", 80))
		a.set("..", instance("x", "10.0.0.1", 80))
		r := started(t, New(settings(t), direct{onlyOrders{a}}))
		time.Sleep(500 * time.Millisecond) // two attempts
		if got, _ := r.last(); got != "the lasterror" {
			t.Error(got)
		}
		time.Sleep(5 * time.Second)
		got, err := r.last()
		if got != "orders[10.0.0.1:80] error" || !strings.Contains(err.Error(), "/v1/health/service/%2E%2E: expected status 200, got 404") {
			t.Errorf("%q %v", got, err)
		}
	})
}

// More services than queries may wait are asked in turn, also those whose query has been waiting when there were fewer.
func TestMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent()
		add := func(from, to int) {
			a.change(func() {
				for i := from; i < to; i++ {
					a.services[fmt.Sprint("s", i)] = []entry{instance("i", "10.0.0.1", 80)}
				}
			})
		}
		add(0, maxWaiting-1)
		r := started(t, New(settings(t), direct{a}))
		time.Sleep(2 * time.Second)
		a.change(func() {
			for i := range maxWaiting - 1 {
				a.services[fmt.Sprint("s", i)][0].Service.Port = 90
			}
		})
		time.Sleep(2 * time.Second)
		if got, _ := r.last(); strings.Count(got, "[10.0.0.1:90]") != maxWaiting-1 {
			t.Errorf("a change of %d services is not noticed at once: %s", maxWaiting-1, got)
		}
		add(maxWaiting-1, 300)
		time.Sleep(2 * time.Second)
		if n := r.services(); n != 300 {
			t.Errorf("%d services", n)
		}
		a.change(func() { a.services["s299"][0].Service.Port = 81 })
		time.Sleep(5 * time.Second)
		if got, err := r.last(); !strings.Contains(got, "s299[10.0.0.1:81]") || err != nil {
			t.Error("s299 was not followed", err)
		}
		if _, most := a.load(); most > maxWaiting {
			t.Errorf("%d queries at a time", most)
		}
	})
}

// Of a hundred thousand services as many are watched as a provider may have, and the rest is told.
func TestHundredThousand(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	synctest.Test(t, func(t *testing.T) {
		a := newAgent()
		a.change(func() {
			for i := range 100_000 {
				a.services[fmt.Sprintf("s%06d", i)] = []entry{instance("i", "10.0.0.1", 80)}
			}
		})
		r := started(t, New(settings(t), direct{a}))
		time.Sleep(20 * time.Second)
		if _, err := r.last(); r.services() != maxServices || err == nil || !strings.Contains(err.Error(), "the catalog has 90000 services more than 10000") {
			t.Errorf("%d services, %v", r.services(), err)
		}
	})
}
