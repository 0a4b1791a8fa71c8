#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace ooc::detail {
namespace {

/// Counts what is in use, and remembers the alignment it was last asked for.
struct UseCounts {
  std::size_t bytes = 0, blocks = 0, alignment = 0;

  void* allocate(std::size_t size, std::size_t wanted) {
    bytes += size;
    ++blocks;
    alignment = wanted;
    return heap_memory().allocate(size, wanted);
  }
  void deallocate(void* data, std::size_t size, std::size_t wanted) {
    bytes -= size;
    --blocks;
    heap_memory().deallocate(data, size, wanted);
  }
};

/// A resource as CCCL 3.0 wants it. RMM's, too, has overloads with a stream.
struct OldResource {
  UseCounts* counts;

  void* allocate(std::size_t bytes, std::size_t alignment) {
    return counts->allocate(bytes, alignment);
  }
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) noexcept {
    counts->deallocate(data, bytes, alignment);
  }
  friend bool operator==(const OldResource&, const OldResource&) = default;
};

struct SomeStream {};

/// A resource as CCCL 3.1 wants it: allocate() takes a stream first.
struct NewResource {
  UseCounts* counts;

  void* allocate_sync(std::size_t bytes, std::size_t alignment) {
    return counts->allocate(bytes, alignment);
  }
  void deallocate_sync(void* data, std::size_t bytes, std::size_t alignment) noexcept {
    counts->deallocate(data, bytes, alignment);
  }
  void* allocate(SomeStream, std::size_t, std::size_t) { return nullptr; }
  void deallocate(SomeStream, void*, std::size_t, std::size_t) noexcept {}
  friend bool operator==(const NewResource&, const NewResource&) = default;
};

/// A resource that cannot be copied or moved, with the functions of both versions.
struct Pool : NewResource {
  explicit Pool(UseCounts& all) : NewResource{&all} {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void* allocate(std::size_t, std::size_t) { throw std::bad_alloc(); }  // not to be called
  void deallocate(void*, std::size_t, std::size_t) { FAIL(); }
};

struct NoResource {
  void* allocate(std::size_t);
};

template <class Resource>
concept CanBeAdapted = requires(Resource resource) {
  MemoryResourceAdaptor(std::move(resource));
};
// Containers of the host cannot be given memory of a device.
static_assert(!std::is_base_of_v<std::pmr::memory_resource, MemoryResource>);

static_assert(CanBeAdapted<OldResource> && CanBeAdapted<NewResource>);
static_assert(!CanBeAdapted<NoResource> && !CanBeAdapted<UseCounts*>);

template <class Resource>
class MemoryResourceAdaptorTest : public testing::Test {};
using Resources = testing::Types<OldResource, NewResource>;
TYPED_TEST_SUITE(MemoryResourceAdaptorTest, Resources);

TYPED_TEST(MemoryResourceAdaptorTest, GivesMemoryOfTheResource) {
  UseCounts counts;
  TypeParam resource{&counts};
  MemoryResourceAdaptor memory(resource);
  {
    const Buffer buffer(memory, 1000);
    buffer.as<char>()[999] = 'x';
    EXPECT_EQ(counts.bytes, 1000u);
    EXPECT_EQ(counts.alignment, 256u);
  }
  EXPECT_EQ(counts.bytes, 0u);
  EXPECT_EQ(counts.blocks, 0u);
}

TYPED_TEST(MemoryResourceAdaptorTest, KeepsAnRvalue) {
  UseCounts counts;
  MemoryResourceAdaptor memory(TypeParam{&counts});
  static_assert(std::is_same_v<decltype(memory), MemoryResourceAdaptor<TypeParam>>);
  const Buffer buffer(memory, 100);
  EXPECT_EQ(counts.blocks, 1u);
}

TEST(MemoryResourceAdaptor, RefersToAnLvalueAndPrefersTheFunctionsOfTheLaterVersion) {
  UseCounts counts;
  Pool pool(counts);
  MemoryResourceAdaptor memory(pool);
  static_assert(std::is_same_v<decltype(memory), MemoryResourceAdaptor<Pool&>>);
  const Buffer buffer(memory, 100);
  EXPECT_EQ(counts.blocks, 1u);
}

TEST(MemoryResourceAdaptor, ExceptionsPass) {
  struct Full {
    void* allocate(std::size_t, std::size_t) { throw std::bad_alloc(); }
    void deallocate(void*, std::size_t, std::size_t) {}
    bool operator==(const Full&) const = default;
  };
  MemoryResourceAdaptor memory(Full{});
  EXPECT_THROW(Buffer(memory, 100), std::bad_alloc);
}

}  // namespace
}  // namespace ooc::detail
