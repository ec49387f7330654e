package process

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// NginxConfig is a configuration with which nginx stays in the foreground, writes below dir alone and serves what the
// http block says.
func NginxConfig(dir, http string) string {
	return fmt.Sprintf(`daemon off;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path %[1]s/body;
    proxy_temp_path %[1]s/proxy;
    fastcgi_temp_path %[1]s/fastcgi;
    uwsgi_temp_path %[1]s/uwsgi;
    scgi_temp_path %[1]s/scgi;
%[2]s}
`, dir, http)
}

// PairForNginx returns deploy/nginx/drawbridge.conf, whose text is given, for two gateways at other addresses, and for clients that reach
// nginx at front without TLS.
func PairForNginx(example, front string, gateways [2]string) (string, error) {
	for was, is := range map[string]string{
		"server 10.0.0.11:8080 fail_timeout=2s;":                        "server " + gateways[0] + " fail_timeout=2s;",
		"server 10.0.0.12:8080 fail_timeout=2s;":                        "server " + gateways[1] + " fail_timeout=2s;",
		"server 10.0.0.11:8080 max_fails=0;":                            "server " + gateways[0] + " max_fails=0;",
		"server 10.0.0.12:8080 max_fails=0;":                            "server " + gateways[1] + " max_fails=0;",
		"    listen 443 ssl;\n    http2 on;\n":                          "    listen " + front + ";\n",
		"    ssl_certificate     /etc/nginx/tls/mcp.example.com.pem;\n": "",
		"    ssl_certificate_key /etc/nginx/tls/mcp.example.com.key;\n": "",
	} {
		if strings.Count(example, was) != 1 {
			return "", fmt.Errorf("deploy/nginx/drawbridge.conf has no, or more than one, %q", was)
		}
		example = strings.Replace(example, was, is, 1)
	}
	return example, nil
}

var (
	nginxVersion = regexp.MustCompile(`nginx/([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})`)
	http2On      = regexp.MustCompile(`listen ([^;]+);\n *http2 on;\n`)
)

// ForNginx returns a configuration in the form that the installed nginx reads: the directive "http2 on" exists since 1.25.1, and earlier
// versions have the parameter http2 of "listen" instead.
func ForNginx(ctx context.Context, program, text string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "-v").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -v: %w", program, err)
	}
	return forNginx(string(out), text)
}

// forNginx is [ForNginx] with what nginx -v has printed.
func forNginx(printed, text string) (string, error) {
	m := nginxVersion.FindStringSubmatch(printed)
	if m == nil {
		return "", fmt.Errorf("nginx -v prints %q, expected a version such as nginx/1.28.0", strings.TrimSpace(printed))
	}
	var version []int
	for _, digits := range m[1:] {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return "", fmt.Errorf("version of nginx: %w", err)
		}
		version = append(version, n)
	}
	if slices.Compare(version, []int{1, 25, 1}) >= 0 {
		return text, nil
	}
	if !http2On.MatchString(text) {
		return "", fmt.Errorf("%s has http2 as a parameter of listen, and no line \"http2 on;\" follows a \"listen\" in the configuration", m[0])
	}
	return http2On.ReplaceAllString(text, "listen $1 http2;\n"), nil
}
