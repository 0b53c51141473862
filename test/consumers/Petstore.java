import com.google.gson.Gson;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The pet store in Java, with Gson: long is exact. */
public class Petstore {
  static class Pet {
    Long id;
    String name;
    long categoryId;
    String status;
  }

  static final Pattern NEXT = Pattern.compile("^<([^>]*)>; rel=\"next\"");

  final HttpClient client = HttpClient.newHttpClient();
  final Gson gson = new Gson();
  final URI pets;
  final String key;

  Petstore(String origin, String key) {
    this.pets = URI.create(origin + "/v1/pets");
    this.key = key;
  }

  HttpRequest.Builder request(URI url) {
    return HttpRequest.newBuilder(url).header("Authorization", "Bearer " + key);
  }

  /** Adds an animal exactly once: until there is an answer, it is sent again with the same key. */
  Pet add(Pet pet) throws InterruptedException {
    HttpRequest request =
        request(pets)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .POST(BodyPublishers.ofString(gson.toJson(pet)))
            .build();
    for (;;) {
      long seconds = 1;
      try {
        HttpResponse<String> reply = client.send(request, BodyHandlers.ofString());
        int status = reply.statusCode();
        if (status == 201) return gson.fromJson(reply.body(), Pet.class);
        if (status < 500 && status != 408 && status != 429) throw new IllegalArgumentException(reply.body());
        seconds = reply.headers().firstValueAsLong("Retry-After").orElse(1);
      } catch (IOException broken) {
        // The connection broke.
      }
      Thread.sleep(seconds * 1000);
    }
  }

  /** Every animal: each page names the next one in its Link header, the last page does not. */
  void list(String query, Consumer<Pet> use) throws IOException, InterruptedException {
    URI url = URI.create(pets + query);
    while (url != null) {
      HttpResponse<String> reply = client.send(request(url).build(), BodyHandlers.ofString());
      if (reply.statusCode() != 200) throw new IOException(reply.body());
      for (Pet pet : gson.fromJson(reply.body(), Pet[].class)) use.accept(pet);
      Matcher link = NEXT.matcher(reply.headers().firstValue("Link").orElse(""));
      url = link.find() ? url.resolve(link.group(1)) : null;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Petstore petstore = new Petstore(arguments[0], arguments[1]);
    Pet leo = new Pet();
    leo.name = "Leo";
    leo.categoryId = Long.MAX_VALUE;
    leo.status = "sold";
    petstore.add(leo);
    petstore.list("?status=sold", (pet) -> System.out.println(pet.id + " " + pet.categoryId + " " + pet.name));
  }
}
