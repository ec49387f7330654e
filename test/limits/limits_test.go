package limits

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/timebox"
	"drawbridge/test/wire"
)

// Bounds of the run.
const (
	memory   = "100MiB"  // GOMEMLIMIT
	resident = 128 << 20 // of the gateway, and of the sample service with it, at most
	calls    = 4000
	callers  = 8
)

// TestLimits: the gateway and the sample service run from the image's files alone.
func TestLimits(t *testing.T) {
	w := newWorld(t, "")
	began := time.Now()
	w.call(calls)
	took := time.Since(began)
	gateway, err := w.gateway.Usage()
	if err != nil {
		t.Fatal(err)
	}
	orders, err := w.orders.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if both := gateway.PeakRSS + orders.PeakRSS; gateway.PeakRSS > resident || both > resident {
		t.Errorf("resident memory of the gateway %s, with the sample service %s, more than %s", mib(gateway.PeakRSS), mib(both), mib(resident))
	}
	w.confined()
	t.Logf("user %d, root read-only, no capability, no new privileges, no HOME, GOMEMLIMIT=%s: %d calls in %.1f s", w.root.uid, memory, calls, took.Seconds())
	t.Logf("resident at most: gateway %s, sample service %s, together %s of %s", mib(gateway.PeakRSS), mib(orders.PeakRSS), mib(gateway.PeakRSS+orders.PeakRSS), mib(resident))
	t.Logf("processor time: %.2f ms per call, start included", float64(gateway.CPU().Microseconds())/1000/calls)
}

// TestWrites follows the gateway's system calls: it opens nothing to write outside of the place for its state.
func TestWrites(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("not run: what is written: strace is not there")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	w := newWorld(t, strace+" -D -f -q -e trace=execve,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,linkat,symlinkat -o "+trace)
	w.call(40)
	w.stop()
	var text []byte
	for range 100 { // strace goes on in the background for a moment
		if text, err = os.ReadFile(trace); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "+++ exited with 0 +++") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	_, own, found := strings.Cut(string(text), `execve("/drawbridge"`)
	if !found {
		t.Fatalf("the trace does not show the program: %.2000s", text)
	}
	opened, outside := writesOutside(own)
	for _, line := range outside {
		t.Errorf("outside of /var/lib/drawbridge: %s", line)
	}
	if opened == 0 {
		t.Error("the trace shows no file that was opened")
	}
	t.Logf("%d files opened, %d times to write outside of /var/lib/drawbridge", opened, len(outside))
}

var (
	writingCall = regexp.MustCompile(`O_WRONLY|O_RDWR|O_CREAT|creat\(|mkdir|rename|unlink|link`)
	resumedCall = regexp.MustCompile(`^(\d+ +)?<\.\.\. \w+ resumed>`)
)

// writesOutside counts the files that a trace opens and returns the calls that write outside of the place for the state.
// strace writes a call that another thread's call interrupts as two lines: the first has the arguments, the second only the result.
func writesOutside(trace string) (opened int, outside []string) {
	for line := range strings.Lines(trace) {
		if resumedCall.MatchString(line) {
			continue
		}
		opened += strings.Count(line, "openat(")
		if writingCall.MatchString(line) && !strings.Contains(line, `"/var/lib/drawbridge/`) {
			outside = append(outside, line)
		}
	}
	return opened, outside
}

func TestWritesOutside(t *testing.T) {
	const trace = `, ["/drawbridge"], 0x7ffe /* 2 vars */) = 0
25370 openat(AT_FDCWD, "/etc/drawbridge/drawbridge.yaml", O_RDONLY|O_CLOEXEC) = 3
25371 renameat(AT_FDCWD, "/var/lib/drawbridge/a.tmp", AT_FDCWD, "/var/lib/drawbridge/a" <unfinished ...>
25372 openat(AT_FDCWD, "/var/lib/drawbridge/b", O_RDWR|O_CREAT, 0600) = 4
25371 <... renameat resumed>)           = 0
25373 mkdirat(AT_FDCWD, "/tmp/x", 0700 <unfinished ...>
25373 <... mkdirat resumed>)            = -1 EROFS (Read-only file system)
`
	opened, outside := writesOutside(trace)
	if opened != 2 || len(outside) != 1 || !strings.Contains(outside[0], "/tmp/x") {
		t.Errorf("%d opened, outside: %q, want 2 and the directory in /tmp", opened, outside)
	}
}

// world is the sample service and a gateway in front of it, both in an unpacked image.
type world struct {
	t               *testing.T
	root            rootfs
	gateway, orders *process.Child
	address         string
}

// newWorld starts both. The gateway is started below the command around, if there is one.
func newWorld(t *testing.T, around string) *world {
	t.Helper()
	archive := os.Getenv("IMAGE")
	if archive == "" {
		t.Skip("IMAGE does not name what make image has written: run make limits")
	}
	if os.Getuid() != 0 {
		t.Skip("not run: the limits: only root may give a program another root and another user")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute) // longer than the test: stop comes after it
	t.Cleanup(cancel)
	w := &world{t: t, root: unpack(t, archive)}
	free := func() string {
		a, err := process.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	service, admin := free(), free()
	w.address = free()
	text := fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s, state_dir: /var/lib/drawbridge}
admin: {listen: %q}
apis: [{name: orders, spec: "http://%s/openapi.yaml", credential: {type: api_key, in: header, name: X-Shop-Key, value: "${KEY:-harbour-2009}"}}]
`, w.address, admin, service)
	// As a mounted ConfigMap; root's own, and readable.
	if err := os.WriteFile(filepath.Join(w.root.dir, "etc/drawbridge/drawbridge.yaml"), []byte(text), 0o644); err != nil { // it holds no secret
		t.Fatal(err)
	}
	w.orders = w.start(ctx, "", "demo", "--service-only", "--upstream", service)
	w.gateway = w.start(ctx, around, "serve", "--config", "/etc/drawbridge/drawbridge.yaml")
	if err := w.gateway.AwaitGateway(ctx, admin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.stop)
	return w
}

// start runs the image's program in a file system of its own: the image, read-only, and an empty place for its state.
func (w *world) start(ctx context.Context, around string, args ...string) *process.Child {
	w.t.Helper()
	script := `set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount -t tmpfs -o size=16m,mode=0700,uid=$USERID,gid=$GROUPID state "$ROOT/var/lib/drawbridge"
mount -o remount,bind,ro "$ROOT"
CHROOT=$(command -v chroot)
exec setpriv --no-new-privs env -i GOMEMLIMIT=$LIMIT $AROUND "$CHROOT" --userspec=$USERID:$GROUPID --groups= "$ROOT" ` + w.root.entrypoint[0] + ` "$@"`
	command := append([]string{"ROOT=" + w.root.dir, "LIMIT=" + memory, "AROUND=" + around, fmt.Sprintf("USERID=%d", w.root.uid), fmt.Sprintf("GROUPID=%d", w.root.gid),
		"unshare", "--mount", "sh", "-c", script, "start"}, args...)
	c, err := process.Start(ctx, "env", command...)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// stop ends both; the gateway has to end well.
func (w *world) stop() {
	for _, c := range []*process.Child{w.gateway, w.orders} {
		select {
		case <-c.Exited():
		default:
			if err := c.Stop(); err != nil {
				w.t.Error(err)
			}
		}
	}
}

// call makes calls, of which each has to get its answer.
func (w *world) call(n int) {
	w.t.Helper()
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			client := &wire.Client{Host: w.address, Revision: wire.Modern}
			conn, err := wire.Dial(w.address)
			if err != nil {
				w.t.Error(err)
				return
			}
			defer conn.Close()
			for i := range n / callers {
				a, err := conn.Exchange([]byte(client.Call("getOrder", fmt.Sprint(caller*n+i+1), `{"order_no":"SO 1001"}`)))
				if err != nil || a.Status != 200 || !strings.Contains(string(a.Body), "SO 1001") || strings.Contains(string(a.Body), `"isError":true`) {
					w.t.Errorf("call %d: status %d, %v: %.500s", i, a.Status, err, a.Body)
					return
				}
			}
		})
	}
	timebox.Done(w.t, group.Wait)
}

// confined asks the kernel what the gateway may do.
func (w *world) confined() {
	w.t.Helper()
	dir := fmt.Sprintf("/proc/%d/", w.gateway.PID())
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		w.t.Fatal(err)
	}
	id := fmt.Sprint(w.root.uid)
	for _, want := range []string{
		"Uid:\t" + strings.Join([]string{id, id, id, id}, "\t"), "NoNewPrivs:\t1", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "Groups:\t \n",
	} {
		if !strings.Contains(string(status), want) {
			w.t.Errorf("no %q in %s", want, status)
		}
	}
	if root, err := os.Readlink(dir + "root"); err != nil || root != w.root.dir {
		w.t.Errorf("its root is %q: %v", root, err)
	}
	mounts, err := os.ReadFile(dir + "mountinfo")
	if err != nil {
		w.t.Fatal(err)
	}
	if !regexp.MustCompile(` / ro,`).Match(mounts) {
		w.t.Errorf("its root is not read-only: %s", mounts)
	}
	environment, err := os.ReadFile(dir + "environ")
	if err != nil || strings.Contains(string(environment), "HOME=") || strings.Contains(string(environment), "PATH=") {
		w.t.Errorf("environment %q: %v", environment, err)
	}
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
