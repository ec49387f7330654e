package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/history"
)

// operationsPerPage is the number of operations on a page of a load report.
const operationsPerPage = 100

// apisPerPage is the number of APIs on a page.
const apisPerPage = 20

// severity is the order of states in lists: the most severe first.
var severity = []admin.State{admin.Failed, admin.Uncallable, admin.Held, admin.Stale, admin.Loading, admin.Ready}

// apisData is what the list of APIs shows.
type apisData struct {
	Query    string // in the name, title or origin of those that are shown; "" for all
	State    admin.State
	Rows     []apiRow
	States   []stateCount
	Total    int
	Sorting  sorting
	Pages    pageLinks
	Services []discovery.ServiceStatus // that are no APIs, and why
}

// apiRow is an API with where it came from, and its calls of the last hour.
type apiRow struct {
	admin.API
	Origin string
	Loaded string // how long ago; "" if it was not
	Calls  history.Sum
}

// apiRows returns the rows of APIs, in their order.
func (c *Console) apiRows(apis []admin.API) []apiRow {
	calls, now := c.o.History.APIs(), c.o.Now()
	rows := make([]apiRow, len(apis))
	for i := range apis {
		a := &apis[i]
		rows[i] = apiRow{API: *a, Origin: originOf(a), Loaded: sometimeAgo(now, a.LoadedAt, ""), Calls: calls[a.Name]}
	}
	return rows
}

// apiColumns are the columns by which APIs can be sorted.
var apiColumns = map[string]func(a, b apiRow) int{
	"name":     func(a, b apiRow) int { return strings.Compare(a.Name, b.Name) },
	"state":    func(a, b apiRow) int { return slices.Index(severity, a.State) - slices.Index(severity, b.State) },
	"tools":    func(a, b apiRow) int { return a.Tools - b.Tools },
	"problems": func(a, b apiRow) int { return a.Problems - b.Problems },
	"calls":    func(a, b apiRow) int { return a.Calls.Calls - b.Calls.Calls },
	"errors":   func(a, b apiRow) int { return a.Calls.Failed - b.Calls.Failed },
	"p99":      func(a, b apiRow) int { return cmp.Compare(a.Calls.P99, b.Calls.P99) },
	"loaded":   func(a, b apiRow) int { return moment(a.LoadedAt).Compare(moment(b.LoadedAt)) },
}

// moment returns a time that may be unknown; the zero time then.
func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// accepts reports whether the list shows an API.
func (d *apisData) accepts(a *apiRow) bool {
	text := strings.ToLower(a.Name + "\n" + a.Title + "\n" + a.Origin + "\n" + a.Spec)
	return (d.State == "" || a.State == d.State) && strings.Contains(text, strings.ToLower(d.Query))
}

func (c *Console) apis(w http.ResponseWriter, r *http.Request) {
	s := c.o.Gateway.Status()
	d := apisData{Total: len(s.APIs), States: stateCountsOf(s.APIs), Query: strings.TrimSpace(r.URL.Query().Get("q")), State: admin.State(r.URL.Query().Get("state"))}
	rows := slices.DeleteFunc(c.apiRows(s.APIs), func(a apiRow) bool { return !d.accepts(&a) })
	d.Sorting = sortedBy(r.URL, rows, "state", apiColumns)
	from, to, links := paged(r.URL, len(rows), apisPerPage)
	d.Rows, d.Pages = rows[from:to], links
	if s.Discovery != nil {
		for _, service := range s.Discovery.Services {
			if service.State != discovery.Served || len(service.Warnings) > 0 {
				d.Services = append(d.Services, service)
			}
		}
	}
	c.render(w, r, d)
}

// originOf says where an API came from.
func originOf(a *admin.API) string {
	if a.Service == nil {
		return "the configuration"
	}
	return a.Service.Provider + ": " + strings.TrimPrefix(a.Service.Namespace+"/"+a.Service.Name, "/")
}

// apiData is what the page of an API shows: its state, and a page of its load report.
type apiData struct {
	API        admin.API
	Origin     string
	Problems   []admin.Problem
	Overlays   []admin.OverlayAction
	Operations []operationRow
	Fate       admin.Fate // of the operations that are shown; "" for all
	Query      string     // in the method, path, id, tool or notes of those that are shown; "" for all
	Fates      []fateCount
	Pages      pageLinks
}

// fateCount is how many operations have a fate.
type fateCount struct {
	Fate  admin.Fate
	Count int
}

// fatesOf returns the fates that operations have.
func fatesOf(counts admin.OperationCounts) (all []fateCount) {
	for _, f := range []admin.Fate{admin.Exposed, admin.Changed, admin.Excluded, admin.HeldBack, admin.Skipped} {
		if n := counts.Of(f); n > 0 {
			all = append(all, fateCount{f, n})
		}
	}
	return all
}

// operationRow is an operation with the texts of its problems.
type operationRow struct {
	admin.Operation
	Notes []string
}

// contains reports whether a text occurs in what the row shows, in any case of letters.
func (o *operationRow) contains(text string) bool {
	shown := append([]string{o.Method + " " + o.Path, o.ID, o.Tool}, o.Notes...)
	text = strings.ToLower(text)
	return slices.ContainsFunc(shown, func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

// pageLinks are the links to the pages before and after.
type pageLinks struct {
	Before, After string // URLs; "" if there is none
	First, Last   int    // of the rows that are shown, from 1
	Of            int
}

// paged returns the bounds of the page that a request asks for, and the links to its neighbours.
func paged(u *url.URL, total, size int) (from, to int, links pageLinks) {
	page, _ := strconv.Atoi(u.Query().Get("page"))
	page = max(1, min(page, (total+size-1)/size)) // one page at least, though it may be empty
	from = (page - 1) * size
	to = min(from+size, total)
	at := func(n int) string {
		q := u.Query()
		q.Set("page", strconv.Itoa(n))
		return (&url.URL{Path: u.Path, RawQuery: q.Encode()}).String()
	}
	links = pageLinks{First: from + 1, Last: to, Of: total}
	if page > 1 {
		links.Before = at(page - 1)
	}
	if to < total {
		links.After = at(page + 1)
	}
	return from, to, links
}

func (c *Console) api(w http.ResponseWriter, r *http.Request) {
	report, ok := c.o.Gateway.Report(r.PathValue("name"))
	if !ok {
		c.fail(w, r, http.StatusNotFound, "There is no API of that name.")
		return
	}
	d := apiData{API: report.API, Origin: originOf(&report.API), Problems: report.Problems, Overlays: report.Overlays, Fates: fatesOf(report.API.Operations)}
	operations := report.Operations
	if f := admin.Fate(r.URL.Query().Get("fate")); f != "" {
		d.Fate = f
		operations = slices.DeleteFunc(slices.Clone(operations), func(o admin.Operation) bool { return o.Fate != f })
	}
	d.Query = strings.TrimSpace(r.URL.Query().Get("q"))
	if d.Query != "" {
		operations = slices.DeleteFunc(slices.Clone(operations), func(o admin.Operation) bool {
			row := operationRow{o, notesOf(&report, &o)}
			return !row.contains(d.Query)
		})
	}
	from, to, links := paged(r.URL, len(operations), operationsPerPage)
	d.Pages = links
	for _, o := range operations[from:to] {
		d.Operations = append(d.Operations, operationRow{o, notesOf(&report, &o)})
	}
	if len(d.Problems) > operationsPerPage {
		d.Problems = d.Problems[:operationsPerPage]
	}
	c.render(w, r, d)
}

// notesOf returns why an operation has its fate, and what was repaired in it.
func notesOf(report *admin.Report, o *admin.Operation) (notes []string) {
	for _, reason := range o.Reasons {
		notes = append(notes, reason.Message)
	}
	for _, i := range o.Problems {
		notes = append(notes, report.Problems[i].Message)
	}
	if o.Uncallable != "" {
		notes = append(notes, "calls fail: "+o.Uncallable)
	}
	return notes
}

// Excerpt is a part of a document.
type Excerpt struct {
	File  string
	First int // the number of the first of Lines, from 1
	Lines []string
}

// documentData is what the page of a document's text shows.
type documentData struct {
	API, File string
	Line      int // the one that was asked for
	Lines     []line
}

// line is a line of a document.
type line struct {
	Number int
	Text   string
	Marked bool
}

// document serves the text of a document around a position of the load report.
func (c *Console) document(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number, err := strconv.Atoi(q.Get("line"))
	if err != nil || number < 1 {
		c.fail(w, r, http.StatusBadRequest, "The address must name a line of the document.")
		return
	}
	name := r.PathValue("name")
	column, _ := strconv.Atoi(q.Get("column")) // a position without one is at the beginning of its line
	e, err := c.o.Gateway.DocumentText(r.Context(), name, q.Get("file"), number, column)
	if err != nil {
		c.fail(w, r, http.StatusNotFound, "The text of this document can't be shown: "+err.Error()+".")
		return
	}
	lines := make([]line, len(e.Lines))
	for i, text := range e.Lines {
		lines[i] = line{e.First + i, text, e.First+i == number}
	}
	c.render(w, r, documentData{API: name, File: e.File, Line: number, Lines: lines})
}

// accept puts a held document into use, or serves a held service.
func (c *Console) accept(w http.ResponseWriter, r *http.Request) {
	name, digest := r.PathValue("name"), r.PostFormValue("digest")
	if _, known := c.o.Gateway.Report(name); known && digest == "" {
		c.fail(w, r, http.StatusBadRequest, "The form must name the document that is accepted. Load the page again.")
		return
	}
	c.act(w, r, doneAccept, name, c.o.Gateway.Accept(r.Context(), name, digest))
}

// acceptLoss removes the services that a provider has lost.
func (c *Console) acceptLoss(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	c.act(w, r, doneLoss, name, c.o.Gateway.AcceptLoss(r.Context(), name))
}

// reload reads the configuration and all documents again.
func (c *Console) reload(w http.ResponseWriter, r *http.Request) {
	c.act(w, r, doneReload, "", c.o.Gateway.Reload(r.Context()))
}

// done is what an operator has done, as the overview says it afterwards.
type done string

const (
	doneAccept done = "accept"
	doneLoss   done = "loss"
	doneReload done = "reload"
)

// String returns a sentence; "" for any other value, which a link of somebody else may have.
func (d done) String() string {
	switch d {
	case doneAccept:
		return "What was held is accepted."
	case doneLoss:
		return "The lost services are removed."
	case doneReload:
		return "The configuration and all documents were read again."
	}
	return ""
}

// act logs what an operator has done, and goes to the overview, which says what became of it.
func (c *Console) act(w http.ResponseWriter, r *http.Request, what done, to string, err error) {
	admin.ExtendDeadline(w)
	who := c.session(r).Name
	if err != nil {
		c.o.Log.Warn("an operator's action failed", "action", string(what), "of", to, "name", who, "error", err)
		d := c.overviewData(history.Minutes)
		d.Failed = err.Error()
		c.renderStatus(w, r, http.StatusUnprocessableEntity, d)
		return
	}
	c.o.Log.Info("an operator changed what is served", "action", string(what), "of", to, "name", who)
	http.Redirect(w, r, "/console?done="+string(what), http.StatusSeeOther)
}
