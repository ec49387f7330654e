package demo

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// stock answers for the warehouses of a matrix parameter: /stock/;warehouse=north,quay (RFC 6570, 3.2.7).
func (s *service) stock(w http.ResponseWriter, r *http.Request) {
	list, ok := strings.CutPrefix(r.PathValue("warehouse"), ";warehouse=")
	if !ok {
		refuse(w, http.StatusBadRequest, "name the warehouses as ;warehouse=north,quay")
		return
	}
	warehouses := strings.Split(list, ",")
	var skus []string
	if v := r.URL.Query().Get("sku"); v != "" {
		skus = strings.Split(v, "|")
	}
	rows := []stocked{}
	for _, row := range s.book.stock {
		if slices.Contains(warehouses, row.Warehouse) && (skus == nil || slices.Contains(skus, row.SKU)) {
			rows = append(rows, row)
		}
	}
	answer(w, http.StatusOK, rows)
}

func (s *service) listCategories(w http.ResponseWriter, r *http.Request) {
	depth, err := strconv.Atoi(r.URL.Query().Get("depth"))
	if err != nil && r.URL.Query().Has("depth") {
		refuse(w, http.StatusBadRequest, "depth is not a number")
		return
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	answer(w, http.StatusOK, s.book.categories.prune(depth))
}

func (s *service) addCategories(w http.ResponseWriter, r *http.Request) {
	var added category
	if !read(w, r, &added) {
		return
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	root := s.book.categories
	// PUT: hanging the same tree twice leaves one.
	root.Children = slices.DeleteFunc(root.Children, func(c *category) bool { return c.Name == added.Name })
	if len(root.Children) == 100 {
		refuse(w, http.StatusInsufficientStorage, "the tree is full; start the demo again")
		return
	}
	root.Children = append(root.Children, added.prune(0))
	answer(w, http.StatusOK, root)
}

func (s *service) getCustomer(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("customer_id"), 10, 64)
	if err != nil {
		refuse(w, http.StatusBadRequest, "a customer's id is a number")
		return
	}
	c := s.book.customer(id)
	if c == nil {
		refuse(w, http.StatusNotFound, "there is no customer "+r.PathValue("customer_id"))
		return
	}
	answer(w, http.StatusOK, c)
}
