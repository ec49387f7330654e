package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// order is one order as it goes over the wire. Ids stay above 2^53 on purpose: a reader that takes numbers for
// floats loses their last digits.
type order struct {
	ID         int64    `json:"id"`
	OrderNo    string   `json:"order_no"`
	CustomerID int64    `json:"customer_id"`
	Status     string   `json:"status"`
	PlacedAt   string   `json:"placed_at"`
	Total      float64  `json:"total"`
	Lines      []line   `json:"lines"`
	Note       *string  `json:"note"`
	Tags       []string `json:"tags"`
	DeliverOn  *string  `json:"deliver_on"`
}

type line struct {
	SKU      string  `json:"sku"`
	Quantity int     `json:"quantity"`
	Price    float64 `json:"price"`
	Box      []int   `json:"box,omitempty"`
}

type customer struct {
	ID     int64    `json:"id"`
	Name   string   `json:"name"`
	Credit *float64 `json:"credit"`
}

type category struct {
	Name     string      `json:"name"`
	Children []*category `json:"children,omitempty"`
}

type payment struct {
	OrderNo  string   `json:"order_no"`
	Method   string   `json:"method"`
	Amount   float64  `json:"amount"`
	Vouchers []string `json:"vouchers"`
	Replayed bool     `json:"replayed"`
}

type stocked struct {
	SKU       string `json:"sku"`
	Warehouse string `json:"warehouse"`
	Quantity  string `json:"quantity"` // text, whatever the document says: the drift that real services have
}

// book is the store: everything that a request can change is under its mutex, and its clock is a counter.
type book struct {
	mu         sync.Mutex
	orders     []*order // oldest first
	payments   map[string]payment
	categories *category
	placed     int

	// Fixed after newBook.
	customers []customer
	prices    map[string]float64
	stock     []stocked
}

func newBook() *book {
	credit := 250.0
	b := &book{
		payments: map[string]payment{},
		customers: []customer{
			{ID: 9007199254740993, Name: "Ærøskøbing Havn", Credit: &credit},
			{ID: 9007199254740995, Name: "O'Brien & Daughters"},
			{ID: 9223372036854775807, Name: "The Last Customer"},
		},
		prices: map[string]float64{"ROPE-12": 19.5, "LAMP-3": 120, "ANCHOR-1": 480.25, "PAINT-7": 33},
		categories: &category{Name: "Everything", Children: []*category{
			{Name: "Deck", Children: []*category{{Name: "Ropes", Children: []*category{{Name: "Mooring"}}}, {Name: "Anchors"}}},
			{Name: "Light"},
		}},
	}
	for i, sku := range []string{"ANCHOR-1", "LAMP-3", "PAINT-7", "ROPE-12"} {
		for j, warehouse := range []string{"north", "quay", "south"} {
			b.stock = append(b.stock, stocked{SKU: sku, Warehouse: warehouse, Quantity: fmt.Sprint((i*3 + j) * 4)})
		}
	}
	note := "ring twice"
	b.place(9007199254740993, []line{{SKU: "ROPE-12", Quantity: 3, Box: []int{400, 300, 200}}}, &note, []string{"quay", "fragile"}, nil)
	b.place(9007199254740995, []line{{SKU: "LAMP-3", Quantity: 1}, {SKU: "PAINT-7", Quantity: 2}}, nil, []string{"quay"}, nil)
	b.place(9223372036854775807, []line{{SKU: "ANCHOR-1", Quantity: 1}}, nil, nil, nil)
	b.orders[1].Status = "paid"
	return b
}

// place adds an order; the caller has checked it. It does not lock.
func (b *book) place(customerID int64, lines []line, note *string, tags []string, deliverOn *string) *order {
	// Numbers carry blanks, signs and umlauts, one after the other: they were typed in once.
	marks := []string{"SO %d", "SO %d#b", "SÖ %d;x", "SO %d 100%%"}
	o := &order{
		ID:         9007199254741001 + int64(b.placed)*2,
		OrderNo:    fmt.Sprintf(marks[b.placed%len(marks)], 1001+b.placed),
		CustomerID: customerID,
		Status:     "open",
		PlacedAt:   time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(b.placed) * 24 * time.Hour).Format(time.RFC3339),
		Lines:      lines,
		Note:       note,
		Tags:       tags,
		DeliverOn:  deliverOn,
	}
	if o.Tags == nil {
		o.Tags = []string{}
	}
	for i := range o.Lines {
		o.Lines[i].Price = b.prices[o.Lines[i].SKU]
		o.Total += o.Lines[i].Price * float64(o.Lines[i].Quantity)
	}
	b.placed++
	b.orders = append(b.orders, o)
	return o
}

// find returns the order of that number, or nil. It does not lock.
func (b *book) find(orderNo string) *order {
	i := slices.IndexFunc(b.orders, func(o *order) bool { return o.OrderNo == orderNo })
	if i < 0 {
		return nil
	}
	return b.orders[i]
}

func (b *book) customer(id int64) *customer {
	i := slices.IndexFunc(b.customers, func(c customer) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return &b.customers[i]
}

// holds reports whether the word stands in the number, the note or an article of the order.
func (o *order) holds(word string) bool {
	if strings.Contains(o.OrderNo, word) || (o.Note != nil && strings.Contains(*o.Note, word)) {
		return true
	}
	return slices.ContainsFunc(o.Lines, func(l line) bool { return strings.Contains(l.SKU, word) })
}

// prune copies the tree down to that depth; 0 keeps all of it.
func (c *category) prune(depth int) *category {
	kept := &category{Name: c.Name}
	if depth == 1 {
		return kept
	}
	for _, child := range c.Children {
		if child == nil {
			continue // somebody hung a null into the tree
		}
		kept.Children = append(kept.Children, child.prune(max(depth-1, 0)))
	}
	return kept
}
