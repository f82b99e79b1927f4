export { isRedisUrl, openRedis, type RedisDriver, type RedisEvents } from './redis/redis.driver.js';
export { createRedisBus, type RedisBus } from './redis/redis-bus.js';
