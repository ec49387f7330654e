package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/process"
)

// Commands that sections of several alerts have.
const (
	statusOfAPI = `curl -s "$A/readyz?verbose" | grep '^api NAME:'`
	change      = `cd /etc/drawbridge && cp /tmp/edited.yaml new.yaml && drawbridge check --config new.yaml && mv new.yaml drawbridge.yaml`
	reload      = `curl -sS --fail-with-body -X POST -H "Authorization: Bearer $ADMIN_TOKEN" $A/reload`
)

// ownLimits are those of all pairs but that of the limit.
const ownLimits = "limits: {principal_rate: off, max_calls: 4000}\n"

// api is the entry of an API in a configuration.
func (s *services) api(name, base, more string) string {
	return fmt.Sprintf("  - {name: %s, spec: %q, base_url: %q%s}\n", name, s.documents.URL+"/"+name, base, more)
}

// pairs starts all pairs.
func (s *services) pairs(ctx context.Context, o options, dir string, redis *process.Redis) (all map[string]*pair, err error) {
	all = map[string]*pair{}
	token, certificate := filepath.Join(dir, "stock.token"), filepath.Join(dir, "client.pem")
	if err := errors.Join(os.WriteFile(token, []byte(s.token()), 0o600), s.authority.write(filepath.Join(dir, "ca.pem")),
		s.authority.writeClient(certificate, time.Now().Add(90*24*time.Hour))); err != nil {
		return all, err
	}
	for _, p := range []struct{ name, config string }{
		{"services", "apis:\n" + s.api("orders", "http://"+s.orders.address, "") +
			s.api("billing", s.things.URL, `, refresh: 5s, tools: {exclude: [{tag: internal}]}`) +
			s.api("stock", s.things.URL, fmt.Sprintf(`, credential: {type: bearer, token: "${file:%s}"}`, token)) +
			s.api("payments", s.payments.URL, fmt.Sprintf(`, ca_file: %q, client_certificate: {cert_file: %q, key_file: %q}`, filepath.Join(dir, "ca.pem"), certificate, certificate)) +
			s.api("things", s.things.URL, "") +
			fmt.Sprintf("state: {redis: {url: \"redis://%s\"}}\n", redis.Address) + ownLimits},
		{"issuer", "apis:\n" + s.api("things", s.things.URL, "") + ownLimits},
		{"audit", "apis:\n" + s.api("things", s.things.URL, "") + ownLimits},
		{"queue", "apis:\n" + s.api("reports", s.things.URL, ", max_in_flight: 2, queue_timeout: 5s") + ownLimits},
		{"limit", "apis:\n" + s.api("jobs", s.things.URL, "") + strings.Replace(ownLimits, "4000", "8", 1)},
	} {
		if all[p.name], err = newPair(ctx, o, dir, p.name, p.config); err != nil {
			return all, err
		}
	}
	return all, nil
}

// edit writes the edited configuration of each replica of a pair, which the page's command takes.
func (p *pair) edit(was, is string) error {
	for _, r := range p.replicas {
		text, err := os.ReadFile(filepath.Join(r.dir, "drawbridge.yaml"))
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), was) {
			return fmt.Errorf("%s has no %q", r.dir, was)
		}
		if err := r.write("edited.yaml", strings.Replace(string(text), was, is, 1)); err != nil {
			return err
		}
	}
	return nil
}

// shows is an error unless the answer of each admin listener of the pair has a text, or has it not.
func (p *pair) shows(ctx context.Context, path, text string, want bool) error {
	for _, r := range p.replicas {
		_, body, err := r.get(ctx, path)
		if err != nil {
			return err
		}
		if strings.Contains(body, text) != want {
			return fmt.Errorf("%s of %s shows %q: %t, want %t:\n%s", path, r.admin, text, !want, want, body)
		}
	}
	return nil
}

// faults returns all faults.
func (s *services) faults(o options, dir string, pairs map[string]*pair, redis *process.Redis) []*fault {
	services, issuer, audit, queue, limit := pairs["services"], pairs["issuer"], pairs["audit"], pairs["queue"], pairs["limit"]
	token, certificate := filepath.Join(dir, "stock.token"), filepath.Join(dir, "client.pem")
	outage := func(f *authtest.Failure) {
		issuer.idp.Fail(authtest.Metadata, f)
		issuer.idp.Fail(authtest.KeySet, f)
	}
	differing := services.replicas[1]
	sameFile := func(was, is string) error {
		text, err := os.ReadFile(filepath.Join(differing.dir, "drawbridge.yaml"))
		if err != nil {
			return err
		}
		return differing.write("drawbridge.yaml", strings.Replace(string(text), was, is, 1))
	}
	full, unready := audit.replicas[0], issuer.replicas[1]
	archive := filepath.Join(dir, "archive")
	return []*fault{
		{
			name: "a service is down", pair: services, alert: "DrawbridgeBreakerOpen", api: "orders", cause: []string{"orders", "not reached"},
			strike: func(context.Context) error { return s.orders.server.Close() },
			looks:  []look{{statusOfAPI, "breaker"}, {`curl -sS -o /dev/null -w '%{http_code}\n' BASE_URL`, "connect"}},
			repair: func(context.Context) error { return s.orders.start() }, repaired: "the service is started",
			values: map[string]string{"NAME": "orders", "BASE_URL": "http://" + s.orders.address}, calls: calls{"orders", 10, 8},
		},
		{
			name: "a document drops a tag that a rule excludes", pair: services, alert: "DrawbridgeUndoneRestrictions", api: "billing", cause: []string{"billing", "undo restrictions"},
			strike: func(context.Context) error { s.changed.Store(true); return nil },
			looks:  []look{{statusOfAPI, "it would undo"}},
			repair: func(context.Context) error { s.changed.Store(false); return nil }, repaired: "its owner restores the document", mend: []string{reload},
			values: map[string]string{"NAME": "billing"}, calls: calls{"billing", 10, 8},
			well: func(ctx context.Context) error {
				return services.shows(ctx, "/readyz?verbose", "api billing: ready", true)
			},
		},
		{
			name: "the issuer does not answer, and a gateway restarts", pair: issuer, at: []*replica{unready}, alert: "DrawbridgeNoIssuer", cause: []string{"cannot verify tokens", unready.admin},
			strike: func(ctx context.Context) error {
				outage(&authtest.Failure{Hang: true})
				return errors.Join(unready.write("drawbridge.yaml", issuer.text(unready, false)), unready.child.Stop(), unready.start(ctx, o.program))
			},
			looks:  []look{{`curl -s "$A/readyz?verbose" | grep '^issuer '`, "no keys"}, {`curl -sS -m 10 ISSUER/.well-known/openid-configuration`, "timed out"}},
			repair: func(context.Context) error { outage(nil); return nil }, repaired: "the issuer answers again",
			values: map[string]string{"ISSUER": issuer.idp.Issuer()}, calls: calls{"things", 10, 8},
			well: func(ctx context.Context) error { return unready.readiness(ctx, http.StatusOK) },
		},
		{
			name: "a service refuses the credential (401)", pair: services, alert: "DrawbridgeCredentialRefused", api: "stock", cause: []string{"stock", "401", "credential"},
			strike: func(context.Context) error { s.rotated.Store(true); return nil },
			looks:  []look{{`curl -s $A/metrics | grep '^drawbridge_service_responses_total{api="NAME"'`, `status="401"`}},
			repair: func(context.Context) error { return os.WriteFile(token+".new", []byte(s.token()), 0o600) }, repaired: "a new credential is obtained",
			mend:   []string{"cp NEW_CREDENTIAL CREDENTIAL_FILE"},
			values: map[string]string{"NAME": "stock", "NEW_CREDENTIAL": token + ".new", "CREDENTIAL_FILE": token}, calls: calls{"stock", 10, 8},
		},
		{
			name: "Redis is down", pair: services, alert: "DrawbridgeSharedStateAway", cause: []string{"state that replicas share"},
			strike: func(context.Context) error { return redis.Kill() },
			looks:  []look{{`curl -s "$A/readyz?verbose" | grep '^shared state:'`, "away"}, {"redis-cli -u REDIS_URL ping", "refused"}},
			repair: redis.Start, repaired: "Redis is started",
			values: map[string]string{"REDIS_URL": "redis://" + redis.Address}, calls: calls{"things", 10, 8},
			well: func(ctx context.Context) error {
				return services.shows(ctx, "/readyz?verbose", "shared state: away", false)
			},
		},
		{
			name: "the disk of an audit log is full", pair: audit, at: []*replica{full}, alert: "DrawbridgeAuditFails", cause: []string{full.admin, "can't write its audit log"},
			strike: func(context.Context) error { return full.disk.Fill() },
			looks:  []look{{`curl -s "$A/readyz?verbose" | grep '^audit log:'`, "not writable"}, {"df -h AUDIT_DIR", "100%"}},
			mend:   []string{"mv AUDIT_FILE.[0-9]* ARCHIVE"},
			values: map[string]string{"AUDIT_DIR": filepath.Dir(full.disk.File()), "AUDIT_FILE": full.disk.File(), "ARCHIVE": archive}, calls: calls{"things", 10, 8},
			repair: func(context.Context) error { return os.MkdirAll(archive, 0o700) },
			well:   func(ctx context.Context) error { return full.readiness(ctx, http.StatusOK) },
		},
		{
			name: "the certificate for a service expires", pair: services, alert: "DrawbridgeClientCertificateExpires", api: "payments", cause: []string{"payments", "expire"},
			strike: func(context.Context) error {
				return s.authority.writeClient(certificate, time.Now().Add(20*time.Second))
			},
			looks: []look{{"openssl x509 -noout -enddate -checkend 604800 -in CERT_FILE", "will expire"}},
			repair: func(context.Context) error {
				return s.authority.writeClient(certificate+".renewed", time.Now().Add(90*24*time.Hour))
			}, repaired: "a certificate is issued",
			mend:   []string{"cp NEW_CERTIFICATE CERT_FILE"},
			values: map[string]string{"NEW_CERTIFICATE": certificate + ".renewed", "CERT_FILE": certificate}, calls: calls{"payments", 10, 8},
		},
		{
			name: "one replica has another configuration", pair: services, alert: "DrawbridgeConfigDiffers", cause: []string{"services", "same configuration"},
			strike: func(context.Context) error { return sameFile("max_calls: 4000", "max_calls: 3000") },
			looks:  []look{{`curl -s $A/metrics | grep '^drawbridge_config_hash'`, "drawbridge_config_hash"}},
			repair: func(context.Context) error { return sameFile("max_calls: 3000", "max_calls: 4000") }, repaired: "the replica gets the file of the other", mend: []string{reload},
			calls: calls{"things", 10, 8},
			well: func(ctx context.Context) error {
				_, body, err := services.replicas[0].get(ctx, "/metrics")
				_, hash, _ := strings.Cut(body, "\ndrawbridge_config_hash ")
				hash, _, _ = strings.Cut(hash, "\n")
				return errors.Join(err, services.shows(ctx, "/metrics", "\ndrawbridge_config_hash "+hash+"\n", true))
			},
		},
		{
			name: "a service is slow", pair: queue, alert: "DrawbridgeCallsQueue", api: "reports", cause: []string{"reports", "slow"},
			also:   []string{"DrawbridgeRoomFull"},
			strike: func(context.Context) error { s.reportsDelay.Store(int64(3 * time.Second)); return nil },
			looks:  []look{{`curl -s $A/metrics | grep -E '^drawbridge_api_calls_(in_flight|queued).api="NAME"'`, "drawbridge_api_calls_in_flight"}},
			repair: func(context.Context) error { return queue.edit("max_in_flight: 2", "max_in_flight: 100") }, repaired: "max_in_flight is edited", mend: []string{change, reload},
			values: map[string]string{"NAME": "reports"}, calls: calls{"reports", 10, 80},
		},
		{
			name: "calls reach the limit of the gateways", pair: limit, alert: "DrawbridgeOverload", cause: []string{"want of room", "overload"},
			strike: func(context.Context) error { s.jobsDelay.Store(int64(2 * time.Second)); return nil },
			looks:  []look{{`curl -s $A/metrics | grep '^drawbridge_refused_total'`, `reason="overload"`}},
			repair: func(context.Context) error { return limit.edit("max_calls: 8", "max_calls: 4000") }, repaired: "limits.max_calls is edited", mend: []string{change, reload},
			calls: calls{"jobs", 20, 80},
		},
	}
}
