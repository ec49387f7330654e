package egress

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"drawbridge/test/process"
)

// proxied is one listener of a real proxy.
type proxied struct {
	name, url string
	user      bool // a user and a password are needed
	log       func() string
}

const (
	proxyUser     = "gateway"
	proxyPassword = "canary-of-the-proxy"
)

// startProxies starts all proxies, which end with the test.
func startProxies(ctx context.Context, t *testing.T, dir string) []proxied {
	t.Helper()
	start := func(address string, name string, args ...string) *process.Child {
		child, err := process.Start(ctx, name, args...)
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Await(ctx, func(ctx context.Context) error {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err == nil {
				conn.Close()
			}
			return err
		}); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, child.Log())
		}
		t.Cleanup(func() { _ = child.Stop() })
		return child
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // the proxies read it as users of their own
			t.Fatal(err)
		}
		return file
	}
	read := func(name string) func() string {
		return func() string {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err.Error()
			}
			return string(text)
		}
	}
	hash, err := exec.CommandContext(ctx, "openssl", "passwd", "-1", proxyPassword).Output()
	if err != nil {
		t.Fatal(err)
	}
	write("passwd", proxyUser+":"+string(hash))
	start("127.0.0.1:3128", "squid", "-N", "-f", write("squid.conf", strings.ReplaceAll(squidConfig, "DIR", dir)))
	proxies := []proxied{
		{"squid, HTTP", "http://127.0.0.1:3128", false, read("access.log")},
		{"squid, HTTP, password", "http://127.0.0.1:3129", true, read("access.log")},
		{"squid, HTTPS, password", "https://127.0.0.1:3130", true, read("access.log")},
	}
	for _, user := range []bool{false, true} {
		port, auth, socks := 8888, "", []string{"-i", "127.0.0.1", "-b", outgoing}
		name := ""
		if user {
			port, auth, name = 8889, "BasicAuth "+proxyUser+" "+proxyPassword+"\n", ", password"
			socks = append(socks, "-u", proxyUser, "-P", proxyPassword)
		}
		socks = append(socks, "-p", fmt.Sprint(port+1000))
		conf := write(fmt.Sprintf("tinyproxy-%d.conf", port), fmt.Sprintf("Port %d\nListen 127.0.0.1\nBind %s\nAllow 127.0.0.1\nTimeout 60\nMaxClients 100\nLogLevel Connect\n%s", port, outgoing, auth))
		tiny := start(fmt.Sprintf("127.0.0.1:%d", port), "tinyproxy", "-d", "-c", conf)
		micro := start(fmt.Sprintf("127.0.0.1:%d", port+1000), "microsocks", socks...)
		proxies = append(proxies, proxied{"tinyproxy, HTTP" + name, fmt.Sprintf("http://127.0.0.1:%d", port), user, tiny.Log},
			proxied{"microsocks, SOCKS5" + name, fmt.Sprintf("socks5://127.0.0.1:%d", port+1000), user, micro.Log})
	}
	return proxies
}

// squidConfig allows CONNECT to all ports, with a password on two of three listeners.
const squidConfig = `http_port 127.0.0.1:3128 name=open
http_port 127.0.0.1:3129 name=password
https_port 127.0.0.1:3130 name=tls tls-cert=DIR/ca.pem tls-key=DIR/ca.key
auth_param basic program /usr/lib/squid/basic_ncsa_auth DIR/passwd
acl open myportname open
acl known proxy_auth REQUIRED
http_access allow open
http_access allow known
http_access deny all
cache deny all
access_log stdio:DIR/access.log
cache_log DIR/cache.log
pid_filename DIR/squid.pid
coredump_dir DIR
tcp_outgoing_address 10.9.0.9
hosts_file /etc/hosts
shutdown_lifetime 0 seconds
pinger_enable off
visible_hostname proxy
`

var asked = regexp.MustCompile(`(?:CONNECT|connected to) ([^\s/]+:\d+)`)

// targets returns what a proxy was asked for, as its log since a length has it, with the number of times. It waits for as many as came
// through: squid writes at the end of a tunnel.
func (p *proxied) targets(since, conns int) map[string]int {
	for deadline := time.Now().Add(10 * time.Second); ; {
		text := p.log()
		found := asked.FindAllStringSubmatch(text[min(since, len(text)):], -1)
		if len(found) < conns && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		all := map[string]int{}
		for _, m := range found {
			all[m[1]]++
		}
		return all
	}
}
