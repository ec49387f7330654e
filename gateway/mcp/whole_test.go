package mcp_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
)

// whole is what stands behind a server with every capability.
type whole struct {
	broker *mcp.Broker

	mu      sync.Mutex
	version map[mcp.List]int
	watched map[string]int
	asked   map[string][]*asked // for each resource, all subscriptions that there were
}

func newWhole(o mcp.BrokerOptions) *whole {
	w := &whole{version: map[mcp.List]int{}, watched: map[string]int{}, asked: map[string][]*asked{}}
	o.ListVersion = func(_ context.Context, sub mcp.Subscriber, list mcp.List) string {
		w.mu.Lock()
		defer w.mu.Unlock()
		if sub.Principal == "blind" {
			return "nothing"
		}
		return fmt.Sprint(w.version[list])
	}
	refused := func(what string) error {
		if strings.Contains(what, "secret") {
			return mcp.InvalidParams("no such resource")
		}
		if strings.Contains(what, "broken") {
			return errors.New("a secret")
		}
		return nil
	}
	o.SubscribeResource = func(_ context.Context, s mcp.Subscription) (func(), error) {
		a := w.asks(s)
		if err := refused(s.URI); err != nil {
			return nil, err
		}
		return w.hold(a), nil
	}
	o.SubscribeTask = func(_ context.Context, sub mcp.Subscriber, id string) (string, func(), error) {
		key, mine := strings.CutPrefix(id, sub.Principal+"/")
		if !mine {
			key = "secret"
		}
		if err := refused(key); err != nil {
			return "", nil, err
		}
		w.count(key, 1)
		return key, func() { w.count(key, -1) }, nil
	}
	w.broker = mcp.NewBroker(o)
	return w
}

// asked is a subscription request.
type asked struct {
	mcp.Subscription
	held bool // it was allowed, and is not released; guarded by whole.mu
}

// asks records a subscription that is not held yet.
func (w *whole) asks(s mcp.Subscription) *asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := &asked{Subscription: s}
	w.asked[s.URI] = append(w.asked[s.URI], a)
	return a
}

// hold makes a subscription receive updates until it is released.
func (w *whole) hold(a *asked) (release func()) {
	set := func(held bool, n int) {
		w.mu.Lock()
		a.held = held
		w.mu.Unlock()
		w.count(a.URI, n)
	}
	set(true, 1)
	return func() { set(false, -1) }
}

// updated has each subscription of a resource that is held tell once. Its stream has told the client before the next one tells: two for one
// client are always two notifications then, and not only where the scheduler has it so. It is called in a synctest bubble.
func (w *whole) updated(uri string) {
	for _, a := range w.subscriptions(uri, true) {
		a.Notify()
		synctest.Wait()
	}
}

// late has a subscription of a resource tell that is not held: the last of those that were refused or released.
func (w *whole) late(uri string) error {
	ended := w.subscriptions(uri, false)
	if len(ended) == 0 {
		return fmt.Errorf("no subscription of %q has ended", uri)
	}
	ended[len(ended)-1].Notify()
	return nil
}

// subscriptions returns those of a resource that are held, or those that are not.
func (w *whole) subscriptions(uri string, held bool) (s []*asked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asked[uri] {
		if a.held == held {
			s = append(s, a)
		}
	}
	return s
}

func (w *whole) count(what string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched[what] += n; w.watched[what] == 0 {
		delete(w.watched, what)
	}
}

// change changes lists.
func (w *whole) change(changed mcp.List) {
	w.mu.Lock()
	for _, l := range []mcp.List{mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList} {
		if changed&l != 0 {
			w.version[l]++
		}
	}
	w.mu.Unlock()
	w.broker.ListsChanged(changed)
}

// task is a task in the given state.
func (w *whole) task(status mcp.TaskStatus) mcp.Task {
	return mcp.Task{
		Status: status, Created: time.Unix(1_800_000_000, 0), Updated: time.Unix(1_800_000_001, 500_000_000), TTL: time.Minute, Poll: 5 * time.Second,
		Result: []byte(`"content":[]`), Err: &mcp.Error{Code: mcp.CodeInternal, Message: "it \"broke\""},
		InputRequests: []mcp.InputRequest{{Key: "na\"me", Kind: mcp.ElicitForm, Params: []byte(`"message":"Who?"`)}},
	}
}

// getTask tells of a task whose id says what state it has, and what its client has
// answered.
func (w *whole) getTask(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
	_, status, ok := strings.Cut(req.TaskID, "/")
	if !ok {
		return mcp.InvalidParams("unknown task")
	}
	t := w.task(mcp.TaskStatus(status))
	t.ID = req.TaskID
	if req.Method == "tasks/get" {
		return reply.TaskState(t)
	}
	if req.Method == "tasks/update" {
		answers, err := req.InputResponses(t.InputRequests)
		if err != nil {
			return err
		}
		return reply.Result(mcp.Chunk{Bytes: fmt.Appendf(nil, `"test":%d`, len(answers))})
	}
	return reply.Result()
}

// wholeServer is a server with every capability; its tools are named after what they do.
func wholeServer(w *whole, o mcp.Options) (mcp.Methods, mcp.Options) {
	o.Capabilities = mcp.Capabilities{Prompts: true, Resources: true, Completions: true, Logging: true, Tasks: true}
	o.Broker = w.broker
	if o.SpentNonces == nil {
		o.SpentNonces = &mcp.UsedOnce{}
	}
	o.Batch = func(_ context.Context, requests []*mcp.Request) error {
		var forbidden []string
		for _, r := range requests {
			if r.Name == "forbidden" {
				forbidden = append(forbidden, string(r.ID))
			}
		}
		if len(forbidden) > 0 {
			return &mcp.Error{
				Code: mcp.CodeInvalidRequest, Message: "insufficient scope", HTTPStatus: 403,
				Header: map[string][]string{"Www-Authenticate": {"Bearer for " + strings.Join(forbidden, ", ")}},
			}
		}
		return nil
	}
	methods := testMethods()
	maps.Copy(methods, mcp.Methods{
		"tools/call":   wholeTool,
		"prompts/get":  wholeAsks,
		"test/ask":     wholeAsks,
		"tasks/get":    w.getTask,
		"tasks/update": w.getTask,
		"tasks/cancel": w.getTask,
		"completion/complete": func(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
			c, err := req.Completion()
			if err != nil {
				return err
			}
			if c.Argument == "many" {
				return reply.Completions(make([]string, 101))
			}
			return reply.Completions([]string{c.Prompt, c.Resource, c.Argument, c.Value, fmt.Sprint(c.Arguments)})
		},
		"prompts/list": func(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
			arguments, err := req.StringArguments()
			if err != nil {
				return err
			}
			return reply.Result(mcp.Chunk{Bytes: fmt.Appendf(nil, `"prompts":[],"test":%q`, fmt.Sprint(arguments))})
		},
		"resources/read": func(_ context.Context, req *mcp.Request, reply *mcp.Reply) error {
			if req.URI == "test://none" {
				return mcp.ResourceNotFound(req.Family, req.URI)
			}
			return reply.Result(mcp.Chunk{Bytes: []byte(`"contents":[]`)})
		},
	})
	return methods, o
}

func wholeTool(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	content := mcp.Chunk{Bytes: []byte(`"content":[]`)}
	switch req.Name {
	case "progress":
		for i := range 3 {
			if err := reply.Progress(float64(i)+0.5, 3, "step \"one\"\nor two"); err != nil {
				return err
			}
		}
		if err := reply.Progress(1, 0, "backwards"); err != nil {
			return err
		}
		if err := reply.Progress(10_000_000_000, 0, ""); err != nil {
			return err
		}
		return reply.Result(content)
	case "log":
		for _, l := range []mcp.Level{mcp.LevelDebug, mcp.LevelWarning, mcp.LevelEmergency} {
			if err := reply.Log(l, "up\"stream", []byte("{\"status\":\r\n503}")); err != nil {
				return err
			}
		}
		if err := reply.Log(mcp.LevelCritical, "", []byte(`"no name"`)); err != nil {
			return err
		}
		return reply.Result(content)
	case "task":
		return reply.Task(mcp.Task{ID: "alice/1", Status: mcp.TaskWorking, Created: time.Unix(1_800_000_000, 0), Updated: time.Unix(1_800_000_000, 0)})
	case "ask", "confirm", "rounds", "kinds", "picky":
		return wholeAsks(ctx, req, reply)
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	case "notify then fail":
		if err := reply.Notify("notifications/test", mcp.Chunk{Bytes: []byte(`"text":"`)}, mcp.Chunk{Bytes: []byte("a\nb"), Escape: true}, mcp.Chunk{Bytes: []byte(`"`)}); err != nil {
			return err
		}
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "insufficient scope", HTTPStatus: 403}
	case "notify then panic":
		if err := reply.Notify("notifications/test"); err != nil {
			return err
		}
		panic("a secret")
	}
	return callTool(ctx, req, reply)
}

// wholeAsks asks the client, and says what it got.
func wholeAsks(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	form := func(key string) mcp.InputRequest {
		return mcp.InputRequest{Key: key, Kind: mcp.ElicitForm, Params: []byte(`"message":"Your ` + key + `?","requestedSchema":{"type":"object","properties":{"v":{"type":"string"}}}`)}
	}
	rounds := []elicit.Round{{Requests: []mcp.InputRequest{form("name")}}}
	switch req.Name {
	case "confirm":
		rounds[0].SingleUse = true
	case "rounds":
		rounds = append(rounds, elicit.Round{Requests: []mcp.InputRequest{form("color"), form("size")}, SingleUse: true})
	case "kinds":
		rounds[0].Requests = nil
		for _, q := range []mcp.InputRequest{
			form("form"), {Key: "page", Kind: mcp.ElicitURL, Params: []byte(`"mode":"url"`)},
			{Key: "model", Kind: mcp.Sample, Params: []byte(`"maxTokens":1`)}, {Key: "roots", Kind: mcp.Roots},
		} {
			if req.Client.Has(q.Kind.Requires()) {
				rounds[0].Requests = append(rounds[0].Requests, q)
			}
		}
	case "picky":
		rounds[0].Check = func(_ *mcp.InputRequest, a mcp.InputResponse) error {
			if string(a.Value) != `{"v":"Ann"}` {
				return errors.New("not Ann")
			}
			return nil
		}
		rounds[0].Rephrase = func(req *mcp.InputRequest, refused error) mcp.InputRequest {
			if refused == nil {
				return *req
			}
			return mcp.InputRequest{Params: bytes.Replace(req.Params, []byte("name?"), []byte("name, "+refused.Error()+"?"), 1)}
		}
	}
	in := reply.Input()
	if err := in.Read(); err != nil {
		return err
	}
	d := elicit.Dialogue{Client: reply, Input: in, Accept: func(ctx context.Context) error {
		_, err := in.Accept(ctx)
		return err
	}}
	if state := in.State(); state != nil {
		if err := json.Unmarshal(state, &d.Progress); err != nil {
			return err
		}
	}
	var said []string
	for i := range rounds {
		answers, err := d.Ask(ctx, &rounds[i])
		var need *mcp.InputRequired
		if errors.As(err, &need) {
			need.State, err = json.Marshal(&d.Progress)
			return cmp.Or(err, error(need))
		}
		var unable *mcp.ClientUnsupportedError
		if errors.As(err, &unable) && req.Name == "kinds" {
			said = append(said, err.Error())
			continue
		}
		if err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(answers)) {
			said = append(said, fmt.Sprintf("%s: %d %s", key, answers[key].Action, answers[key].Value))
		}
	}
	return reply.Result(mcp.Chunk{Bytes: []byte(`"said":"`)}, mcp.Chunk{Bytes: []byte(strings.Join(said, ", ")), Escape: true}, mcp.Chunk{Bytes: []byte(`"`)})
}
