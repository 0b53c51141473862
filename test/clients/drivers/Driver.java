import com.google.gson.Gson;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;

/** Calls the client as each line says, all at the same time, and prints what it gets. */
public class Driver {
  record Limits(Integer attempts, Integer timeout, Integer total) {}
  record Job(String job, String url, String key, String once, String name, Limits limits) {}

  static void run(Job job, List<Petstore.Pet> pets) throws InterruptedException {
    Petstore petstore = new Petstore(job.url, job.key);
    if (job.limits.attempts != null) petstore.attempts = job.limits.attempts;
    if (job.limits.timeout != null) petstore.timeout = Duration.ofMillis(job.limits.timeout);
    if (job.limits.total != null) petstore.total = Duration.ofMillis(job.limits.total);
    if (job.name == null) {
      petstore.list("pending", pets::add);
      return;
    }
    Petstore.Pet pet = new Petstore.Pet();
    pet.name = job.name;
    pet.categoryId = Long.MAX_VALUE;
    pet.status = "sold";
    pets.add(petstore.add(pet, job.once));
  }

  static void report(Job job, PrintStream out) {
    List<Petstore.Pet> pets = new ArrayList<>();
    Map<String, Object> result = new TreeMap<>(Map.of("job", job.job));
    try {
      run(job, pets);
    } catch (Petstore.PetstoreException error) {
      result.put("error", Map.of("isOurs", true, "status", error.status, "code", error.code, "requestId", String.valueOf(error.requestId),
          "message", error.getMessage(), "cause", error.getCause() == null ? "" : error.getCause().toString()));
    } catch (Throwable error) {
      result.put("error", Map.of("isOurs", false, "message", error.toString()));
    }
    result.put("pets", pets.stream().map(pet -> pet == null ? "null" : pet.id + " " + pet.categoryId + " " + pet.name + " " + pet.status).toList());
    out.println(new Gson().toJson(result));
  }

  public static void main(String[] arguments) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      Job job = new Gson().fromJson(line, Job.class);
      new Thread(() -> report(job, out)).start();
    }
  }
}
