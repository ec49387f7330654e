package shop;

import java.util.Map;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.info.Info;

// A service as its authors leave it: nothing is said of OpenAPI, of its path or of the gateway. shop.version makes two versions of it.
@SpringBootApplication
public class ShopService {
	public static void main(String[] args) {
		SpringApplication.run(ShopService.class, args);
	}

	@Bean
	OpenAPI description(@Value("${shop.version}") int version) {
		return new OpenAPI().info(new Info().title("orders").version(version + ".0.0"));
	}
}

@RestController
class Orders {
	@Value("${shop.version}")
	private int version;

	@GetMapping("/orders")
	Map<String, String> listOrders() {
		return Map.of("by", "version " + version);
	}
}

@RestController
@ConditionalOnProperty(name = "shop.version", havingValue = "2")
class Refunds {
	@GetMapping("/refunds")
	Map<String, String> listRefunds() {
		return Map.of("by", "version 2");
	}
}
