// A component scan covers the package of the class, so that it must not be the unnamed one.
package registry;

import com.alibaba.nacos.auth.AuthManager;
import com.alibaba.nacos.auth.exception.AccessException;
import com.alibaba.nacos.auth.model.Permission;
import com.alibaba.nacos.auth.model.User;
import com.alibaba.nacos.core.code.ControllerMethodsCache;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.ServletComponentScan;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

@SpringBootApplication(scanBasePackages = "com.alibaba.nacos")
@ServletComponentScan("com.alibaba.nacos")
@EnableScheduling
public class NacosServer {
	public static void main(String[] args) {
		SpringApplication.run(NacosServer.class, args);
	}

	// The filter for the server's requests knows only the methods that are announced to it.
	@Autowired
	void announce(ControllerMethodsCache methods) {
		methods.initClassMethod("com.alibaba.nacos.naming.controllers");
	}

	// The accounts are in the console of Nacos, whose jar is not published. The server asks for none by default.
	@Bean
	AuthManager accounts() {
		return new AuthManager() {
			@Override
			public User login(Object request) throws AccessException {
				throw new AccessException("there are no accounts");
			}

			@Override
			public User loginRemote(Object request) throws AccessException {
				throw new AccessException("there are no accounts");
			}

			@Override
			public void auth(Permission permission, User user) throws AccessException {
				throw new AccessException("there are no accounts");
			}
		};
	}
}
