package task

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/source"

	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/origin"
)

const (
	// CallbackKey is the key of _meta with which a caller requests a webhook at the end of a call's job.
	CallbackKey = "drawbridge/callbackUrl"
	// SignatureHeader is the header that authenticates the gateway to the caller's webhook: "t=SECONDS,v1=HEX", where HEX is
	// the HMAC-SHA256 of the seconds, a full stop and the body.
	SignatureHeader = "Drawbridge-Signature"

	maxFollowedJobs      = 1024 // jobs with a webhook, in all
	maxFollowedPerCaller = 64   // jobs with a webhook, of one caller
	maxWebhookResponse   = 4 << 10
	webhookTimeout       = 10 * time.Second
	maxCallbackBytes     = 2048 // of a URL
	// memoryPause is the delay before a large result is fetched again after there was no memory for it.
	memoryPause = 5 * time.Second
)

// CallerWebhooks sends webhooks to callers when their jobs have ended. It is immutable except for its connections.
type CallerWebhooks struct {
	origins []origin.Origin
	secret  []byte
	Client  *upstream.Client
	made    config.Tools
	proxy   *config.Proxy
}

// NewCallerWebhooks returns nil if no caller may request a webhook. It takes over from old what has not changed.
func NewCallerWebhooks(c *config.Config, old *CallerWebhooks, tracing trace.TracerProvider, version string) *CallerWebhooks {
	if len(c.Tools.CallbackURLs) == 0 {
		return nil
	}
	if old != nil && reflect.DeepEqual(old.made, c.Tools) && reflect.DeepEqual(old.proxy, c.Proxy) {
		return old
	}
	out := &CallerWebhooks{secret: []byte(c.Tools.CallbackSecret.Reveal()), made: c.Tools, proxy: c.Proxy}
	for _, text := range c.Tools.CallbackURLs {
		if at, ok := origin.Parse(text.String()); ok {
			out.origins = append(out.origins, at)
		}
	}
	out.Client = upstream.NewClient(source.WithDefaultLimits(upstream.Options{
		Name: "callback", NamedHosts: config.Hosts(c.Tools.CallbackURLs), Timeout: webhookTimeout, MaxBytes: maxWebhookResponse, MaxIdle: 2,
		TracerProvider: tracing, UserAgent: "drawbridge/" + version, Proxy: upstream.ConfiguredProxy(c.Proxy),
	}))
	return out
}

// wanted returns the webhook URL of a request with these params, or nil if it has none. The error is for the client.
func (o *CallerWebhooks) wanted(params json.RawMessage) (*url.URL, error) {
	value := jsonscan.Lookup(jsonscan.Lookup(params, "_meta"), CallbackKey)
	if value == nil {
		return nil, nil //nolint:nilnil // no webhook was requested
	}
	bad := mcp.InvalidParams("params._meta[%q] must be a URL of one of the origins that the operator allows", CallbackKey)
	if jsonscan.KindOf(value) != jsonscan.String || len(value) > maxCallbackBytes {
		return nil, bad
	}
	u, err := url.Parse(string(jsonscan.Unquote(value)))
	at, ok := origin.Of(u)
	if err != nil || !ok || u.User != nil || !slices.Contains(o.origins, at) {
		return nil, bad
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// Followers follow jobs whose callers asked for a webhook. Each is a goroutine, which ends with the job or with
// [Followers.Stop].
type Followers struct {
	mu     sync.Mutex
	cancel map[int]context.CancelFunc // of the goroutines
	next   int
	owners map[string]int
	ended  bool
	group  sync.WaitGroup
}

func newJobFollowers() *Followers {
	return &Followers{cancel: map[int]context.CancelFunc{}, owners: map[string]int{}}
}

// begin runs f in its own goroutine. It returns false if there are too many goroutines or stop has been called.
func (f *Followers) begin(owner string, run func(ctx context.Context)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || len(f.cancel) >= maxFollowedJobs || owner != "" && f.owners[owner] >= maxFollowedPerCaller {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background()) // no request owns the goroutine
	n := f.next
	f.next++
	f.cancel[n] = cancel
	f.owners[owner]++
	f.group.Go(func() {
		defer func() {
			cancel()
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.cancel, n)
			if f.owners[owner]--; f.owners[owner] == 0 {
				delete(f.owners, owner)
			}
		}()
		run(ctx)
	})
	return true
}

// Stop cancels all goroutines and waits for them until ctx ends.
func (f *Followers) Stop(ctx context.Context) error {
	f.mu.Lock()
	f.ended = true
	for _, cancel := range f.cancel {
		cancel()
	}
	f.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		f.group.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Continuation implements [call.Continuation] for the endpoints of one configuration.
type Continuation struct {
	*Tasks
	Webhooks *CallerWebhooks // to callers; nil if they are off
}

// CallerWebhook implements [call.Continuation].
func (j *Continuation) CallerWebhook(params json.RawMessage) (*url.URL, error) {
	if j.Webhooks == nil {
		return nil, nil //nolint:nilnil // none can be requested
	}
	return j.Webhooks.wanted(params)
}

// BeginTask implements [call.Continuation].
func (j *Continuation) BeginTask(ctx context.Context, started *call.StartedJob) (mcp.Task, bool, error) {
	t, rec, err := j.newTask(ctx, started)
	if err != nil || t == nil {
		return mcp.Task{}, false, err
	}
	if started.Webhook != nil {
		j.followTask(ctx, t, started)
	}
	return t.of(rec), true, nil
}

// Follow implements [call.Continuation].
func (j *Continuation) Follow(ctx context.Context, started *call.StartedJob) bool {
	t, _, err := j.newTask(ctx, started)
	return err == nil && t != nil && j.followTask(ctx, t, started)
}

// followTask follows a task until it ends, and sends the webhook of the caller whose call has begun it. It returns false if
// too many tasks are followed.
func (j *Continuation) followTask(ctx context.Context, t *Task, started *call.StartedJob) bool {
	to, out, plan, of := *started.Webhook, j.Webhooks, started.Plan, &started.Caller
	w := NewWatcher(ctx, t.id, mcp.Subscriber{Principal: of.ID, Family: mcp.Stateless, Revision: of.Protocol.Revision, Client: of.Protocol.Capabilities})
	w.LimitHeader(plan)
	caller := of.Charged()
	follow := func(ctx context.Context) {
		for pause := plan.Job.Interval; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(pause, watchPace)):
			}
			t, rec, err := j.stateFor(ctx, w)
			switch {
			case t == nil:
				j.Log.Warn("a job is no longer polled, so its caller's webhook is not sent", "tool", plan.Tool.Name, "error", err)
				return
			case err != nil:
			case rec.final():
				release, ok := j.Responses.Hold(ctx, caller, 2*int64(len(rec.Result))) // the result, and the request that contains it
				if !ok {
					pause = memoryPause // a result too large to be stored is fetched again
					continue
				}
				defer release()
				out.send(ctx, j.Log, &to, t.of(rec), plan.Tool)
				return
			default:
				pause = time.Until(rec.Next)
			}
		}
	}
	followed := j.Followers.begin(of.ID, func(ctx context.Context) {
		j.Survive("a job was followed", func() { follow(ctx) })
	})
	if !followed {
		j.Log.Warn("too many jobs are being polled for webhooks, so a caller's webhook is not sent", "tool", plan.Tool.Name)
	}
	return followed
}

// send sends the webhook, and retries it twice if the response is not 2xx.
func (o *CallerWebhooks) send(ctx context.Context, log *slog.Logger, to *url.URL, t mcp.Task, tool *catalog.Tool) {
	body := append(t.AppendJSON([]byte("{")), '}')
	for _, pause := range []time.Duration{0, 5 * time.Second, time.Minute} {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		status, err := o.post(ctx, to, body)
		if err == nil && status/100 == 2 {
			return
		}
		log.Warn("a caller's webhook failed", "api", tool.API, "tool", tool.Name, "status", status, "error", err)
	}
}

// post sends one webhook request.
func (o *CallerWebhooks) post(ctx context.Context, to *url.URL, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	seconds := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, o.secret)
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(SignatureHeader, "t="+seconds+",v1="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := o.Client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
