package source

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/redact"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
)

// argumentsDepth is the JSON nesting depth of a call's arguments, which are inside the message and its params.
const argumentsDepth = 2

// loader reads and compiles the document of one source.
type loader struct {
	deps    *Deps
	api     *config.API
	limits  config.Limits
	secrets *redact.Configured
	clients *clients
	choices []*serverChoice // see [Source.Servers]
	owner   *budgetOwner    // owns the document in the memory budget
	pace    *openapi.Pace   // paces the work on this document
	large   atomic.Bool     // whether the document exceeds SmallText
}

// load reads and compiles the document. The error is [fetch.ErrUnchanged] if the document still matches previous. text
// is for the last-known-good store; nil without keepText. load returns whatever the document contains (S4).
func (l *loader) load(ctx context.Context, previous *fetch.Stamp, keepText bool) (d *Document, text *fetch.Copy, err error) {
	defer l.recovered(&d, &err)
	o := l.loadOptions(l.pace)
	o.Previous, o.Keep = previous, keepText
	doc, leave, err := l.read(ctx, o)
	defer leave()
	switch own, spec := l.api.Credential, l.api.SpecCredential; {
	case !errors.Is(err, fetch.ErrProtected) || !l.clients.auth.anonymous:
	case spec != nil || own != nil && own.Unset():
		err = fmt.Errorf("%w (its value is not set here)", err)
	default:
		err = fmt.Errorf("%w of its own, spec_credential: that of type %s needs a caller, and a document is fetched for nobody", err, own.Type)
	}
	if err != nil {
		return nil, nil, err
	}
	d, err = l.compile(ctx, doc, l.pace)
	return d, doc.Copy, err
}

// SmallText is the maximum size, in bytes, of a document that is read without a slot of [Deps].LargeTexts.
const SmallText = 1 << 20

// read reads the document. A large one needs a slot of [Deps].LargeTexts, which leave releases when the text is no
// longer needed. The size is only known from the bytes, so a large document is fetched again once it has a slot.
func (l *loader) read(ctx context.Context, o openapi.LoadOptions) (doc *openapi.Document, leave func(), err error) {
	leave = func() {}
	if l.deps.LargeTexts == nil {
		doc, err = openapi.Load(ctx, l.api.Spec.String(), o)
		return doc, leave, err
	}
	if !l.large.Load() {
		small := o
		small.Small = SmallText
		if doc, err = openapi.Load(ctx, l.api.Spec.String(), small); !errors.Is(err, fetch.ErrLarge) {
			return doc, leave, err
		}
		l.large.Store(true)
	}
	if leave, err = acquire(ctx, l.deps.LargeTexts); err != nil {
		return nil, leave, err
	}
	doc, err = openapi.Load(ctx, l.api.Spec.String(), o)
	return doc, leave, err
}

// acquire waits for a slot of a semaphore, which leave releases; a nil semaphore has slots without end.
func acquire(ctx context.Context, slots chan struct{}) (leave func(), err error) {
	if slots == nil {
		return func() {}, nil
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return func() {}, context.Cause(ctx)
	}
}

// Reread reads the files of the document with a stamp again, to show them. The error is [fetch.ErrChanged] if the
// document has changed. Concurrent calls read one after the other.
func (s *Source) Reread(ctx context.Context, stamp fetch.Stamp) (files *fetch.Copy, err error) {
	l := s.loader
	for _, slots := range []chan struct{}{s.rereads, l.deps.LargeTexts} {
		leave, err := acquire(ctx, slots)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	files, err = openapi.Reread(ctx, l.api.Spec.String(), stamp, l.loadOptions(l.deps.Pace.Part()))
	return files, l.secrets.OperatorError(err)
}

// Read reads and compiles the document once more, as [Source.Reread] does. What is served does not change. The document
// holds its text, for [Source.ReadWith].
func (s *Source) Read(ctx context.Context) (*openapi.Document, *openapi.API, error) {
	return s.loader.readAgain(ctx, s.rereads, func(o openapi.LoadOptions) (*openapi.Document, error) {
		return openapi.Load(ctx, s.Config.Spec.String(), o)
	})
}

// ReadWith compiles a document from the text of an earlier one, with one further overlay.
func (s *Source) ReadWith(ctx context.Context, text *fetch.Copy, overlay fetch.File) (*openapi.Document, *openapi.API, error) {
	return s.loader.readAgain(ctx, s.rereads, func(o openapi.LoadOptions) (*openapi.Document, error) {
		with := *text
		with.Overlays = append(slices.Clone(text.Overlays), overlay)
		o.Overlays = append(slices.Clone(o.Overlays), overlay.Location)
		return openapi.LoadCopy(ctx, s.Config.Spec.String(), &with, o)
	})
}

// readAgain reads and compiles a document for a report. Concurrent calls do so one after the other.
func (l *loader) readAgain(ctx context.Context, rereads chan struct{}, read func(openapi.LoadOptions) (*openapi.Document, error)) (doc *openapi.Document, api *openapi.API, err error) {
	defer func() { err = l.secrets.OperatorError(err) }()
	for _, slots := range []chan struct{}{rereads, l.deps.LargeTexts} {
		leave, err := acquire(ctx, slots)
		if err != nil {
			return nil, nil, err
		}
		defer leave()
	}
	pace := l.deps.Pace.Part()
	o := l.loadOptions(pace)
	o.Keep = true
	if doc, err = read(o); err != nil {
		return nil, nil, err
	}
	api, err = doc.Compile(ctx, l.compileOptions(pace))
	return doc, api, err
}

// restore compiles a document from the last-known-good store, under the same rules and limits as load.
func (l *loader) restore(ctx context.Context, doc *diskcache.Document) (d *Document, err error) {
	defer l.recovered(&d, &err)
	pace := l.deps.Pace.Part() // load may run at the same time
	read, err := openapi.LoadCopy(ctx, l.api.Spec.String(), doc.Copy, l.loadOptions(pace))
	if err != nil {
		return nil, err
	}
	if d, err = l.compile(ctx, read, pace); err != nil {
		return nil, err
	}
	d.Read = doc.Head.Read
	return d, nil
}

// recovered is deferred by functions that read documents: it turns a panic into an error and redacts secrets in errors.
func (l *loader) recovered(d **Document, err *error) {
	if v := recover(); v != nil {
		l.deps.Metrics.Panics.Inc()
		l.deps.Logger.Error("panic while a document was read", "api", l.owner.label, "panic", v, "stack", string(debug.Stack()))
		*d, *err = nil, errors.New("internal error while the document was read; the log has the cause")
	}
	*err = l.secrets.OperatorError(*err)
}

func (l *loader) loadOptions(pace *openapi.Pace) openapi.LoadOptions {
	o := openapi.LoadOptions{
		Limits:  openapi.Limits{Pace: pace, Memory: l.deps.MaxDocument, Bytes: int64(l.limits.MaxSpec), Operations: l.limits.MaxOperations},
		Timeout: time.Duration(l.api.SpecTimeout), Root: l.api.Root.String(), OverlayRoot: l.api.Folder(),
	}
	if l.clients.documents != nil {
		o.Client = l.clients.documents.Documents()
	}
	if l.deps.TryUsualPaths && !l.api.IsDiscovered() { // discovery has already searched
		o.UsualPaths = config.UsualDocumentPaths()
	}
	for _, overlay := range l.api.Overlays {
		o.Overlays = append(o.Overlays, overlay.String())
	}
	if l.clients.overlays != nil {
		o.OverlayClient = l.clients.overlays.Documents()
	}
	if l.clients.refs != nil {
		o.RefClient = l.clients.refs.Documents()
		for _, origin := range l.api.AllowRefs {
			o.AllowRefs = append(o.AllowRefs, origin.String())
		}
	}
	return o
}

// compileOptions returns what the configuration says of the operations of the document.
func (l *loader) compileOptions(pace *openapi.Pace) openapi.CompileOptions {
	c := openapi.CompileOptions{
		MaxOperations: l.limits.MaxOperations, MaxSchema: int(l.limits.MaxSchema), Reserved: reserved(*l.api),
		ServerVariables: l.api.Variables(), ServerChoices: l.serverChoices(), SlashParameters: slashParameters(l.api.SlashParameters),
		MaxDepth: l.limits.MaxDepth - argumentsDepth, Pace: pace,
	}
	if l.api.TrustExtensions {
		c.Extensions, c.ExtensionPrefix = config.Extensions(), config.ExtensionPrefix
	}
	c.Profile = Profile(l.api.SchemaProfile)
	if l.api.BaseURL != nil {
		c.BaseURL = l.api.BaseURL.URL()
	}
	c.ServicePath = l.servicePath()
	for _, origin := range l.api.AllowServers {
		c.AllowServers = append(c.AllowServers, origin.String())
	}
	if l.api.OutputSchemas == config.OutputOff || l.api.Answers == config.AnswersText {
		c.Output = openapi.OutputOff
	}
	c.ReadableHTML = l.api.HTML == config.HTMLText
	return c
}

func (l *loader) compile(ctx context.Context, doc *openapi.Document, pace *openapi.Pace) (*Document, error) {
	c := l.compileOptions(pace)
	budget := l.deps.Documents
	c.MaxSize = budget.Left(l.owner)
	api, err := doc.Compile(ctx, c)
	if errors.Is(err, openapi.ErrLargeAPI) || err == nil && !budget.Take(l.owner, api) {
		return nil, budget.TooLarge(l.owner, c.MaxSize)
	}
	if err != nil {
		return nil, err
	}
	d := &Document{Title: doc.Title, Version: doc.Version, Standard: doc.Standard, Stamp: doc.Stamp, Overlays: doc.Overlays, API: api,
		Extensions: newExtensions(api, l.api), Read: time.Now()}
	d.setClients(l, nameFor(l.api, l.owner.label, doc.Title))
	if l.deps.Advise {
		d.Advice = doc.Report(ctx)
	}
	return d, nil
}

// Profile returns the profile that a configuration names; "" is the full one, the least reduced.
func Profile(p config.SchemaProfile) openapi.Profile {
	switch p {
	case config.ProfileCompatible:
		return openapi.ProfileCompatible
	case config.ProfilePortable:
		return openapi.ProfilePortable
	case config.ProfileFull:
	}
	return openapi.ProfileFull
}

// servicePath determines how the path of the base URL is found; nil if the configuration states it.
func (l *loader) servicePath() *openapi.ServicePath {
	path := l.api.ServicePath()
	if !path.Unnamed {
		return nil
	}
	base, instances := l.api.BaseURL.URL().Host, l.deps.Instances(l.api.Service())
	return &openapi.ServicePath{Context: path.Context, Key: path.Key, Own: func(host string) bool {
		return host == base || openapi.IsLocal(host) || instances.Own(host)
	}}
}

// slashParameters converts the configured path parameters that may contain slashes.
func slashParameters(list []config.SlashParameter) (out []openapi.SlashParameter) {
	for _, p := range list {
		out = append(out, openapi.SlashParameter{Name: p.Name, Encoded: p.As == config.SlashEncoded, Rejected: p.As == config.SlashRejected})
	}
	return out
}
