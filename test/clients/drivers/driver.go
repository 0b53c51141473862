// Calls the client as each line says, all at the same time, and prints what it gets.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"example.com/shop/petstore"
)

type job struct {
	Job, URL, Key, Once, Name string
	Limits                    struct{ Attempts, Timeout, Total int }
}

func run(job job) (pets []petstore.Pet, err error) {
	store, err := petstore.New(job.URL, job.Key)
	if err != nil {
		return nil, err
	}
	if limits := job.Limits; limits.Attempts != 0 {
		store.Attempts = limits.Attempts
		store.Timeout, store.Total = time.Duration(limits.Timeout)*time.Millisecond, time.Duration(limits.Total)*time.Millisecond
	}
	if job.Name == "" {
		err = store.List(context.Background(), "pending", func(page []petstore.Pet) { pets = append(pets, page...) })
		return pets, err
	}
	pet, err := store.Add(context.Background(), petstore.Pet{Name: job.Name, CategoryID: 1<<63 - 1, Status: "sold"}, job.Once)
	if err == nil {
		pets = append(pets, pet)
	}
	return pets, err
}

func report(job job) {
	found, err := run(job)
	result := map[string]interface{}{"job": job.Job}
	pets := []string{}
	for _, pet := range found {
		pets = append(pets, fmt.Sprint(pet.ID, " ", pet.CategoryID, " ", pet.Name, " ", pet.Status))
	}
	result["pets"] = pets
	if err != nil {
		failure := &petstore.Error{}
		isOurs, cause := errors.As(err, &failure), ""
		if inner := errors.Unwrap(err); inner != nil {
			cause = inner.Error()
		}
		result["error"] = map[string]interface{}{
			"isOurs": isOurs, "status": failure.Status, "code": failure.Code, "requestId": failure.RequestID, "message": err.Error(), "cause": cause,
		}
	}
	text, _ := json.Marshal(result)
	fmt.Println(string(text))
}

func main() {
	log.SetOutput(io.Discard) // net/http reports what a server sends behind an answer.
	var jobs sync.WaitGroup
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var next job
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			panic(err)
		}
		jobs.Add(1)
		go func() {
			defer jobs.Done()
			report(next)
		}()
	}
	jobs.Wait()
}
