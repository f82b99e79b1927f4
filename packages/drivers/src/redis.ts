export { isRedisUrl, openRedis, type RedisDriver, type RedisEvents } from './redis/redis.driver.js';
