package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseUsage(t *testing.T) {
	stat := "42 (a b) c) S 1 42 42 0 -1 4194560 1 0 0 0 150 25 0 0 20 0 7 0 100 1 1 18446744073709551615 0 0"
	status := "Name:\ta b) c\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t7\n"
	got, err := parseUsage([]byte(stat), []byte(status))
	want := Usage{User: 1500 * time.Millisecond, System: 250 * time.Millisecond, RSS: 1 << 20, PeakRSS: 2 << 20}
	if err != nil || got != want {
		t.Errorf("parseUsage = %+v, %v; want %+v", got, err, want)
	}
	if _, err := parseUsage([]byte("42 (x"), nil); err == nil || err.Error() != `parse stat "42 (x": too few fields` {
		t.Errorf("parseUsage of half a line: %v", err)
	}
}

func TestReadUsageOfThisProcess(t *testing.T) {
	u, err := ReadUsage(os.Getpid())
	if err != nil || u.RSS < 1<<20 || u.PeakRSS < u.RSS/2 {
		t.Errorf("ReadUsage of this process = %+v, %v", u, err)
	}
}

func TestStopEndsTheChild(t *testing.T) {
	c, err := Start(t.Context(), "sh", "-c", `trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done`)
	if err != nil {
		t.Fatal(err)
	}
	up := func(context.Context) error {
		if strings.Contains(c.Log(), "up") {
			return nil
		}
		return errors.New("nothing printed")
	}
	if err := c.Await(t.Context(), up); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if got := c.Log(); got != "up\nbye\n" {
		t.Errorf("log = %q", got)
	}
}

func TestAwaitSaysWhyAChildEnded(t *testing.T) {
	c, err := Start(t.Context(), "sh", "-c", "echo no such file >&2; exit 2")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Await(t.Context(), func(context.Context) error { return errors.New("not yet") })
	want := "sh ended before it was ready (exit status 2); its last words:\nno such file\n"
	if err == nil || err.Error() != want {
		t.Errorf("Await = %v, want %q", err, want)
	}
}

func TestMetricsAndDescriptors(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# HELP a b\na 1\nb{c=\"d e\"} 2.5\n")
	}))
	defer service.Close()
	got, err := Metrics(t.Context(), strings.TrimPrefix(service.URL, "http://"))
	if err != nil || len(got) != 2 || got["a"] != 1 || got[`b{c="d e"}`] != 2.5 {
		t.Errorf("Metrics = %v, %v", got, err)
	}
	if n, err := Descriptors(os.Getpid()); err != nil || n < 3 {
		t.Errorf("Descriptors of this process = %d, %v", n, err)
	}
	if err := ClearPeak(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func TestParseSocketMemory(t *testing.T) {
	const stat = "sockets: used 344\nTCP: inuse 330 orphan 0 tw 59 alloc 330 mem 12\nUDP: inuse 0 mem 7\n"
	if n, err := parseSocketMemory(stat); err != nil || n != 12*os.Getpagesize() {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := parseSocketMemory("TCP: inuse 330\n"); err == nil || err.Error() != `memory of sockets: /proc/net/sockstat does not tell it: "TCP: inuse 330\n"` {
		t.Error(err)
	}
	if _, err := SocketMemory(); err != nil {
		t.Error(err)
	}
}
