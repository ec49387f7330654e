package demo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *service) listOrders(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	size, number := 20, 1
	var customerID int64
	var totalMin float64
	var after time.Time
	for _, field := range []struct {
		name  string
		parse func(string) error
	}{
		{"page[size]", func(v string) (err error) { size, err = strconv.Atoi(v); return err }},
		{"page[number]", func(v string) (err error) { number, err = strconv.Atoi(v); return err }},
		{"filter[customer_id]", func(v string) (err error) { customerID, err = strconv.ParseInt(v, 10, 64); return err }},
		{"filter[total_min]", func(v string) (err error) { totalMin, err = strconv.ParseFloat(v, 64); return err }},
		{"filter[placed_after]", func(v string) (err error) { after, err = time.Parse(time.DateOnly, v); return err }},
	} {
		if q.Has(field.name) && field.parse(q.Get(field.name)) != nil {
			refuse(w, http.StatusBadRequest, field.name+" is not what it should be: "+q.Get(field.name))
			return
		}
	}
	if size < 1 || size > 100 || number < 1 {
		refuse(w, http.StatusBadRequest, "page[size] goes from 1 to 100, page[number] from 1")
		return
	}
	var states []string
	if v := q.Get("status"); v != "" {
		states = strings.Split(v, ",")
	}

	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	found := []*order{}
	for _, o := range slices.Backward(s.book.orders) {
		placed, _ := time.Parse(time.RFC3339, o.PlacedAt) // written by place
		switch {
		case states != nil && !slices.Contains(states, o.Status),
			customerID != 0 && o.CustomerID != customerID,
			o.Total < totalMin,
			!after.IsZero() && !placed.After(after),
			slices.ContainsFunc(q["tag"], func(tag string) bool { return !slices.Contains(o.Tags, tag) }):
			continue
		}
		found = append(found, o)
	}
	page := struct {
		Orders []*order `json:"orders"`
		Total  int      `json:"total"`
		Next   *int     `json:"next"`
		Tenant string   `json:"tenant"` // undeclared, as such things are
	}{Orders: []*order{}, Total: len(found), Tenant: tenant(r)}
	if from := (number - 1) * size; from < len(found) {
		page.Orders = found[from:min(from+size, len(found))]
	}
	if number*size < len(found) {
		next := number + 1
		page.Next = &next
	}
	answer(w, http.StatusOK, page)
}

func tenant(r *http.Request) string {
	if t := r.Header.Get("X-Tenant"); t != "" {
		return t
	}
	return "north"
}

func (s *service) createOrder(w http.ResponseWriter, r *http.Request) {
	var body struct {
		CustomerID json.Number `json:"customer_id"`
		Lines      []line      `json:"lines"`
		Note       *string     `json:"note"`
		Tags       []string    `json:"tags"`
		DeliverOn  *string     `json:"deliver_on"`
	}
	if !read(w, r, &body) {
		return
	}
	id, err := body.CustomerID.Int64()
	if err != nil || s.book.customer(id) == nil {
		refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf("there is no customer %s", body.CustomerID))
		return
	}
	if len(body.Lines) == 0 {
		refuse(w, http.StatusUnprocessableEntity, "an order has at least one line")
		return
	}
	for _, l := range body.Lines {
		if _, sold := s.book.prices[l.SKU]; !sold || l.Quantity < 1 {
			refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf("line %q: not sold here, or no quantity", l.SKU))
			return
		}
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	if s.book.placed == 1000 {
		refuse(w, http.StatusInsufficientStorage, "the book is full; start the demo again")
		return
	}
	answer(w, http.StatusCreated, s.book.place(id, body.Lines, body.Note, body.Tags, body.DeliverOn))
}

func (s *service) findOrders(w http.ResponseWriter, r *http.Request) {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	w.Header().Set("Deprecation", "@1262304000") // RFC 9745
	numbers := []string{}
	for _, o := range s.book.orders {
		if o.holds(r.URL.Query().Get("q")) {
			numbers = append(numbers, o.OrderNo)
		}
	}
	answer(w, http.StatusOK, numbers)
}

// locked runs f on the order that the path names, under the book's mutex, or answers 404.
func (s *service) locked(w http.ResponseWriter, r *http.Request, f func(*order)) {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	o := s.book.find(r.PathValue("order_no"))
	if o == nil {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no order %q", r.PathValue("order_no")))
		return
	}
	f(o)
}

func (s *service) getOrder(w http.ResponseWriter, r *http.Request) {
	s.locked(w, r, func(o *order) { answer(w, http.StatusOK, o) })
}

func (s *service) updateOrder(w http.ResponseWriter, r *http.Request) {
	var patch map[string]json.RawMessage // RFC 7396: a member that is null clears, one that is absent keeps
	if !read(w, r, &patch) {
		return
	}
	s.locked(w, r, func(o *order) {
		changed := *o
		for _, member := range []struct {
			name  string
			apply func(json.RawMessage) error
		}{
			{"note", func(v json.RawMessage) error { changed.Note = nil; return json.Unmarshal(v, &changed.Note) }},
			{"tags", func(v json.RawMessage) error { changed.Tags = nil; return json.Unmarshal(v, &changed.Tags) }},
			{"deliver_on", func(v json.RawMessage) error { changed.DeliverOn = nil; return json.Unmarshal(v, &changed.DeliverOn) }},
		} {
			if value, given := patch[member.name]; given && member.apply(value) != nil {
				refuse(w, http.StatusUnprocessableEntity, member.name+" has the wrong type")
				return
			}
		}
		if changed.Tags == nil {
			changed.Tags = []string{}
		}
		*o = changed
		answer(w, http.StatusOK, o)
	})
}

func (s *service) cancelOrder(w http.ResponseWriter, r *http.Request) {
	s.locked(w, r, func(o *order) {
		if o.Status != "open" {
			refuse(w, http.StatusConflict, fmt.Sprintf("order %q is %s and can't be cancelled", o.OrderNo, o.Status))
			return
		}
		s.book.orders = slices.DeleteFunc(s.book.orders, func(other *order) bool { return other == o })
		w.WriteHeader(http.StatusNoContent)
	})
}

func (s *service) payOrder(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || len(r.PostForm) == 0 {
		refuse(w, http.StatusUnsupportedMediaType, "send a form (application/x-www-form-urlencoded)")
		return
	}
	amount, err := strconv.ParseFloat(r.PostForm.Get("amount"), 64)
	if err != nil || amount <= 0 {
		refuse(w, http.StatusUnprocessableEntity, "amount is not a sum of money: "+r.PostForm.Get("amount"))
		return
	}
	token := r.Header.Get("X-Idempotency-Token")
	s.locked(w, r, func(o *order) {
		if p, seen := s.book.payments[token]; seen && token != "" && p.OrderNo == o.OrderNo {
			p.Replayed = true
			answer(w, http.StatusOK, p)
			return
		}
		if o.Status != "open" {
			refuse(w, http.StatusConflict, fmt.Sprintf("order %q is already %s", o.OrderNo, o.Status))
			return
		}
		if amount != o.Total {
			refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf("order %q costs %.2f, not %.2f", o.OrderNo, o.Total, amount))
			return
		}
		o.Status = "paid"
		p := payment{OrderNo: o.OrderNo, Method: r.PostForm.Get("method"), Amount: amount, Vouchers: append([]string{}, r.PostForm["vouchers"]...)}
		if token != "" {
			s.book.payments[token] = p
		}
		answer(w, http.StatusOK, p)
	})
}
