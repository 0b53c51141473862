// The pet store in Go, with its standard library alone: int64 is exact.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"time"
)

type Pet struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status,omitempty"`
}

type Petstore struct{ Origin, Key string }

func (store Petstore) send(method, url, once string, body []byte) (*http.Response, []byte, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+store.Key)
	if once != "" {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", once)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return reply, text, err
}

// Add adds an animal exactly once: until there is an answer, it is sent again with the same key.
func (store Petstore) Add(pet Pet) (added Pet, err error) {
	body, err := json.Marshal(pet)
	if err != nil {
		return added, err
	}
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return added, err
	}
	for {
		seconds := 1
		reply, text, err := store.send("POST", store.Origin+"/v1/pets", fmt.Sprintf("%x", random), body)
		if err == nil {
			if reply.StatusCode == 201 {
				return added, json.Unmarshal(text, &added)
			}
			if reply.StatusCode < 500 && reply.StatusCode != 408 && reply.StatusCode != 429 {
				return added, fmt.Errorf("%s", text)
			}
			if given, err := strconv.Atoi(reply.Header.Get("Retry-After")); err == nil {
				seconds = given
			}
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

var next = regexp.MustCompile(`^<([^>]*)>; rel="next"`)

// List gives every animal to use: each page names the next one in its Link header, the last page does not.
func (store Petstore) List(query string, use func(Pet)) error {
	page, err := url.Parse(store.Origin + "/v1/pets" + query)
	for page != nil && err == nil {
		reply, text, err := store.send("GET", page.String(), "", nil)
		if err != nil {
			return err
		}
		if reply.StatusCode != 200 {
			return fmt.Errorf("%s", text)
		}
		var pets []Pet
		if err := json.Unmarshal(text, &pets); err != nil {
			return err
		}
		for _, pet := range pets {
			use(pet)
		}
		link := next.FindStringSubmatch(reply.Header.Get("Link"))
		if link == nil {
			return nil
		}
		if page, err = page.Parse(link[1]); err != nil {
			return err
		}
	}
	return err
}

func main() {
	store := Petstore{os.Args[1], os.Args[2]}
	if _, err := store.Add(Pet{Name: "Leo", CategoryID: 1<<63 - 1, Status: "sold"}); err != nil {
		panic(err)
	}
	err := store.List("?status=sold", func(pet Pet) { fmt.Println(pet.ID, pet.CategoryID, pet.Name) })
	if err != nil {
		panic(err)
	}
}
